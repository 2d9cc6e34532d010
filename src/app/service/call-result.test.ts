import { describe, expect, test } from 'vitest'
import { resolveConfig } from '../config/config.ts'
import { faultsOf, pageOf } from './call-result.ts'
import { planCall } from './plan-call.ts'

const config = resolveConfig(
  { PAYDIRT_SERVICE_URL: 'https://service.example' },
  { service: { operations: { 'job.search': { rename: { functions: 'job_functions' } } } } },
)
const call = planCall(
  config,
  {
    operation: 'job.search',
    body: { domains: ['acme.example'], functions: ['sales'] },
    isUnchecked: true,
  },
  { words: () => [], limits: [], pageSize: undefined, lastPage: undefined },
)

function faults(ignored: unknown): string[] {
  const data = {
    data: { jobs: [{ job_search_id: '1' }], pagination: { total_entries: 1 } },
    metadata: { ignored_fields: ignored },
  }
  const page = pageOf(call, { outcome: 'found', data })
  return page ? faultsOf(call, page) : ['no page']
}

describe('the rows of a search', () => {
  test.each<[string, unknown]>([
    ['by its name', ['domains']],
    ['by the name that was sent', ['job_functions']],
    ['in another case', ['Domains']],
    ['with a place', ['domains[0]']],
    ['with a path', ['functions.0']],
    ['as a text', 'domains'],
    ['as an object', { domains: 'not recognised' }],
    ['behind many others', [...Array.from({ length: 60 }, (_, at) => `x${at}`), 'domains']],
  ])('are of no use when a filter is ignored, %s', (_, ignored) => {
    expect(faults(ignored)).toEqual([expect.stringContaining('the service ignored')])
  })

  test('are of no use when nobody can read which filters were ignored', () => {
    expect(faults([{ name: 'domains' }])).toEqual([expect.stringContaining('ignored_fields is no list')])
    expect(faults(7)).toEqual([expect.stringContaining('ignored_fields is no list')])
  })

  test.each([[undefined], [null], [[]], [{}], [''], [['another_key']]])('are of use with %j', (ignored) => {
    expect(faults(ignored)).toEqual([])
  })
})
