import { describe, expect, test } from 'vitest'
import { parseUsd } from '../../domain/money.ts'
import type { Operation } from '../../domain/words.ts'
import { createCatalogue, type OperationSettings } from './catalogue.ts'
import { operationsAt } from './operations-at.ts'
import { nothingSeen, provenanceOf, provenanceText, type SightedField, type Sightings } from './provenance.ts'
import { withRenames } from './with-renames.ts'

const day = (number: number) => new Date(Date.UTC(2026, 10, number))
const field = (path: string, type: SightedField['type'], on = 2): SightedField => ({
  path,
  type,
  lastSeen: day(on),
})

function sourceOf(
  operation: Operation,
  name: string,
  seen: Partial<Sightings> = {},
  settings: OperationSettings = {},
): string | undefined {
  const contract = createCatalogue(settings).of(operation)
  const claim = provenanceOf(contract, { ...nothingSeen, ...seen }).find((each) => each.name === name)
  return claim && provenanceText(claim.provenance)
}

const page = [
  field('', 'object'),
  field('data', 'object'),
  field('data.jobs', 'array'),
  field('data.jobs[]', 'object'),
  field('data.jobs[].job_search_id', 'string'),
  field('data.pagination', 'object'),
  field('data.pagination.total_entries', 'number'),
  field('data.jobs[].functions', 'array'),
]

describe('a path', () => {
  const confirmed = { state: 'confirmed', code: null, since: day(2), confirmedAt: day(2) } as const
  test.each<[Partial<Sightings>, OperationSettings, string]>([
    [{}, {}, 'assumed'],
    [{}, { 'job.search': { path: '/postings' } }, 'configured'],
    [{ state: confirmed }, { 'job.search': { path: '/postings' } }, 'confirmed 2026-11-02'],
    [
      { state: { state: 'stopped', code: 'no_such_endpoint', since: day(3), confirmedAt: null } },
      {},
      'contradicted 2026-11-03: the service has no such address (404)',
    ],
  ])('with %j and %j is %s', (seen, settings, source) => {
    expect(sourceOf('job.search', 'path', seen, settings)).toBe(source)
  })

  test('that the description has is shown', () => {
    expect(sourceOf('expansion.lookup', 'path')).toBe('shown 4.4')
  })
})

describe('access and price', () => {
  const price = (currency: 'USD' | 'credit', usd: string, on = 2) => ({
    currency,
    amountAtomic: parseUsd(usd),
    detail: '',
    seenAt: day(on),
  })
  const state = { state: 'confirmed', code: null, since: day(1), confirmedAt: day(1) } as const

  test('are confirmed by what a request was paid with, and no more', () => {
    expect(sourceOf('job.search', 'access', { state, prices: [price('USD', '0.02')] })).toBe('assumed')
    expect(
      sourceOf('job.search', 'access', { state, prices: [price('USD', '0.02'), price('credit', '2', 4)] }),
    ).toBe('confirmed 2026-11-02')
    expect(sourceOf('monitor.list', 'access', { state, prices: [price('credit', '1')] })).toBe(
      'confirmed 2026-11-02',
    )
    const stopped = (code: string) =>
      sourceOf('job.search', 'access', {
        state: { state: 'stopped', code, since: day(5), confirmedAt: null },
      })
    expect(stopped('forbidden')).toBe('contradicted 2026-11-05: the service refuses access (403)')
    // A wrong key is no drift of the service.
    expect(stopped('unauthorized')).toBe('assumed')
  })

  test('in USD are compared with USD alone', () => {
    expect(sourceOf('company.profile', 'price')).toBe('shown 4.1')
    expect(sourceOf('company.profile', 'price', { prices: [price('USD', '0.01')] })).toBe(
      'confirmed 2026-11-02',
    )
    expect(sourceOf('company.profile', 'price', { prices: [price('credit', '7')] })).toBe('shown 4.1')
    expect(sourceOf('company.profile', 'price', { prices: [price('USD', '0.03')] })).toBe(
      'contradicted 2026-11-02: 0.030000 USD',
    )
    expect(sourceOf('job.search', 'price', { prices: [price('credit', '7')] })).toBe('confirmed 2026-11-02')
  })
})

describe('a key of a request', () => {
  const used = (takenAt: Date | null, ignoredAt: Date | null) => ({
    keys: [{ name: 'functions', takenAt, ignoredAt }],
  })
  test.each<[Partial<Sightings>, string]>([
    [{}, 'shown 4.4'],
    [used(day(3), null), 'confirmed 2026-11-03'],
    [used(day(3), day(2)), 'confirmed 2026-11-03'],
    [used(day(3), day(4)), 'contradicted 2026-11-04: the service ignores it'],
    [used(null, day(4)), 'contradicted 2026-11-04: the service ignores it'],
    [
      { renamed: [{ name: 'functions', to: 'job_functions', at: day(4) }] },
      'contradicted 2026-11-04: the service calls it job_functions',
    ],
  ])('with %j is %s', (seen, source) => {
    expect(sourceOf('job.search', 'functions', seen)).toBe(source)
  })

  test('whose new name was accepted is configured, whatever was said of the old one', () => {
    const catalogue = withRenames(createCatalogue(), [
      { operation: 'job.search', field: 'functions', wireName: 'job_functions' },
    ])
    const seen = { ...nothingSeen, renamed: [{ name: 'functions', to: 'job_functions', at: day(4) }] }
    const claim = provenanceOf(catalogue.of('job.search'), seen).find(({ name }) => name === 'functions')
    expect(claim).toMatchObject({
      value: 'texts, sent as job_functions',
      provenance: { state: 'configured' },
    })
    expect(catalogue.of('news.search').wireNames).toEqual({})
  })
})

describe('a field of an answer', () => {
  test('is confirmed where one of its type was seen', () => {
    expect(sourceOf('job.search', 'data.jobs', { fields: page })).toBe('confirmed 2026-11-02')
    expect(sourceOf('job.search', 'data.jobs[].job_search_id', { fields: page })).toBe('confirmed 2026-11-02')
    expect(sourceOf('job.search', 'data.jobs[].functions', { fields: page })).toBe('confirmed 2026-11-02')
    expect(sourceOf('job.search', 'data.jobs[].base_salary', { fields: page })).toBe('shown 4.4')
    expect(
      sourceOf('account.profile', 'data.total_max_*', { fields: [field('data.total_max_users', 'number')] }),
    ).toBe('confirmed 2026-11-02')
  })

  test('is contradicted by another type that came later', () => {
    const name = 'data.jobs[].functions'
    expect(
      sourceOf('job.search', name, { fields: [...page, field('data.jobs[].seniority_rank', 'number')] }),
    ).toBe('confirmed 2026-11-02')
    const total = 'data.pagination.total_entries'
    expect(sourceOf('job.search', total, { fields: [...page, field(total, 'string', 3)] })).toBe(
      'contradicted 2026-11-03: its type is string',
    )
    expect(sourceOf('job.search', total, { fields: [...page, field(total, 'string', 1)] })).toBe(
      'confirmed 2026-11-02',
    )
  })

  test('that a reader needs is contradicted by an answer without it, and not by an empty page', () => {
    const total = 'data.pagination.total_entries'
    const without = page.filter(({ path }) => path !== total)
    expect(sourceOf('job.search', total, { fields: without })).toBe(
      'contradicted 2026-11-02: answers are without it',
    )
    expect(sourceOf('job.search', total, { fields: [...page, field('', 'object', 5)] })).toBe(
      'contradicted 2026-11-05: answers are without it',
    )
    const empty = page.filter(({ path }) => !path.startsWith('data.jobs[]'))
    expect(sourceOf('job.search', 'data.jobs[].job_search_id', { fields: empty })).toBe('assumed')
    const nothing = [field('', 'object'), field('data', 'null')]
    expect(sourceOf('job.search', 'data.jobs', { fields: nothing })).toBe('assumed')
  })

  test('that the description says is not there is contradicted where it is', () => {
    const name = 'data.signals[].occurs_at'
    expect(sourceOf('expansion.signals', name)).toBe('shown 4.4')
    expect(sourceOf('expansion.signals', name, { fields: [field(name, 'string')] })).toBe(
      'contradicted 2026-11-02: an answer has it',
    )
  })
})

test.each<[string, string[]]>([
  ['POST https://api.example/jobs/search', ['job.search']],
  ['POST https://api.example/v2/jobs/search (is_x true)', ['job.search']],
  ['POST https://api.example/redeem/people/batch (10 entries)', ['contact.redeem']],
  ['GET https://api.example/monitors/7', ['monitor.read']],
  ['GET https://api.example/monitors/{monitor_id}/charts', ['monitor.charts']],
  ['POST https://api.example/people/search/similar', ['people.similar']],
  ['POST https://api.example/', []],
  ['POST', []],
])('the operations at %s are %j', (endpoint, operations) => {
  expect(operationsAt(createCatalogue(), endpoint).map(({ operation }) => operation)).toEqual(operations)
})
