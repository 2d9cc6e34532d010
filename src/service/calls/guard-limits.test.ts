import { describe, expect, it } from 'vitest'
import { createCatalogue } from '../catalogue/catalogue.ts'
import { guardLimits, mostBodyBytes } from './guard-limits.ts'

const catalogue = createCatalogue()
const jobs = catalogue.of('job.search')

describe('the guard of limits', () => {
  it('refuses a page larger than the plan allows, and 25 where no plan is known', () => {
    const body = { functions: ['sales'], per_page: 26 }
    expect(() => guardLimits(jobs, body)).toThrow(
      'job.search: per_page is 26, and the service takes at most 25',
    )
    expect(() => guardLimits(jobs, body, { perPage: 100 })).not.toThrow()
    expect(() => guardLimits(jobs, { ...body, per_page: 25 })).not.toThrow()
  })

  it('refuses a page beyond the last one', () => {
    const body = { functions: ['sales'], page: 101 }
    expect(() => guardLimits(jobs, body, { page: 100 })).toThrow(
      'job.search: page is 101, and the service has 100 at most',
    )
    expect(() => guardLimits(jobs, body)).not.toThrow()
    expect(() => guardLimits(jobs, { ...body, page: 100 }, { page: 100 })).not.toThrow()
  })

  it('refuses a search for everything unless it is meant', () => {
    expect(() => guardLimits(jobs, { per_page: 10, is_ascending_order: true })).toThrow(
      'job.search: it has no filter and asks for everything; --all sends it all the same',
    )
    expect(() => guardLimits(jobs, {}, { all: true })).not.toThrow()
    expect(() => guardLimits(catalogue.of('expansion.rankings'), {})).toThrow('asks for everything')
    for (const operation of ['monitor.list', 'account.usage', 'template.types', 'monitor.create'] as const)
      expect(() => guardLimits(catalogue.of(operation), {})).not.toThrow()
    // A search for what is like one company has a filter in the company.
    expect(() => guardLimits(catalogue.of('company.similar'), { domain: 'a.example' })).not.toThrow()
  })

  it('refuses a body above a megabyte', () => {
    const fill = (bytes: number) => ({ functions: ['é'.repeat((bytes - 18) / 2)] })
    expect(Buffer.byteLength(JSON.stringify(fill(mostBodyBytes)))).toBe(mostBodyBytes)
    expect(() => guardLimits(jobs, fill(mostBodyBytes))).not.toThrow()
    expect(() => guardLimits(jobs, fill(mostBodyBytes + 2))).toThrow(
      'job.search: its body has 1000002 bytes, and 1000000 are the most',
    )
  })
})
