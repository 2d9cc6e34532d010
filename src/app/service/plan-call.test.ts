import { describe, expect, test } from 'vitest'
import { resolveConfig } from '../config/config.ts'
import { planCall, type CallInput, type KnownOfAccount } from './plan-call.ts'

const config = resolveConfig({ PAYDIRT_SERVICE_URL: 'https://service.example' }, {})
const none: KnownOfAccount = {
  words: () => [],
  learned: () => [],
  limits: [],
  pageSize: undefined,
  lastPage: undefined,
}
const plan = (input: Pick<CallInput, 'body'> & Partial<CallInput>, known: Partial<KnownOfAccount> = {}) =>
  planCall(config, { operation: 'job.search', ...input }, { ...none, ...known })

describe('a planned search', () => {
  const body = { domains: ['acme.example'] }

  test('has the size of the plan, and a smaller one where the service has refused that', () => {
    expect(plan({ body }).request).toEqual({ domains: ['acme.example'], page: 1, per_page: 25 })
    expect(plan({ body }, { pageSize: 100 }).request['per_page']).toBe(100)
    const limits: KnownOfAccount['limits'] = [
      { operation: 'job.search', name: 'per_page', value: 10, code: '41675', seenAt: new Date(0) },
      { operation: 'people.search', name: 'per_page', value: 5, code: '41675', seenAt: new Date(0) },
    ]
    expect(plan({ body }, { limits, pageSize: 100 }).request['per_page']).toBe(10)
    expect(() => plan({ body: { ...body, per_page: 11 } }, { limits })).toThrow(
      'per_page is 11, and the service takes at most 10',
    )
  })

  test('stops at the last page that is known', () => {
    expect(() => plan({ body: { ...body, page: 41 } }, { lastPage: 40 })).toThrow('page is 41')
    expect(plan({ body: { ...body, page: 40 } }, { lastPage: 40 }).page).toBe(40)
  })

  test('takes another path from its option alone', () => {
    const given = { $path: '/x', functoins: ['sales'] }
    expect(() => plan({ body: given })).toThrow('$path is not a key of any operation')
    expect(plan({ body: { functoins: ['sales'] }, path: '/x' }).request).toEqual({
      $path: '/x',
      functoins: ['sales'],
      page: 1,
    })
  })
})
