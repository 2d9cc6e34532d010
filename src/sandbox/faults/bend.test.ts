import { describe, expect, test } from 'vitest'
import { bendAnswer } from './bend-answer.ts'
import { bendRequest } from './bend-request.ts'
import { createFaultSwitch } from './fault-switch.ts'
import type { FaultsInput } from './faults.ts'

const good = () => ({
  data: {
    pagination: { page: 1, total_entries: 2, total_pages: 1 },
    jobs: [
      { id: 'a', seniority_rank: 'Senior' },
      { id: 'b', seniority_rank: 'Manager' },
    ],
  },
  metadata: { profile: {} },
})
const bent = (input: FaultsInput, endpoint = 'jobs_search') =>
  bendAnswer(createFaultSwitch(input), endpoint, 'key', good())
const read = (input: FaultsInput, body: object) =>
  bendRequest(createFaultSwitch(input).current, 'jobs_search', JSON.stringify(body))

describe('an answer', () => {
  test('is the good one where no fault is for its endpoint', () => {
    const only = ['news_search']
    expect(bent({})).toEqual(good())
    expect(
      bent({
        renamedFields: [{ only, place: 'data.jobs', to: 'x' }],
        envelope: { only, shape: 'result' },
        missingTotal: { only, share: 1 },
      }),
    ).toEqual(good())
  })

  test('bears other names, in every row where the place goes through a list', () => {
    const renamedFields = [
      { place: 'data.pagination.total_entries', to: 'total_count' },
      { place: 'data.jobs[].id', to: 'job_id' },
      { place: 'data.nothing.here', to: 'x' },
    ]
    const { data } = bent({ renamedFields }) as ReturnType<typeof good>
    expect(data.pagination).toEqual({ page: 1, total_count: 2, total_pages: 1 })
    expect(data.jobs.map((each) => Object.keys(each))).toEqual([
      ['seniority_rank', 'job_id'],
      ['seniority_rank', 'job_id'],
    ])
  })

  test('has another envelope, no total, or a word that nobody knows', () => {
    const { data, metadata } = good()
    expect(bent({ envelope: { shape: 'result' } })).toEqual({ result: data, metadata })
    expect(bent({ envelope: { shape: 'flat' } })).toEqual({
      data: data.jobs,
      pagination: data.pagination,
      metadata,
    })
    expect(bent({ envelope: { shape: 'bare' } })).toEqual(data.jobs)
    expect(bent({ missingTotal: { next: 1 } })).toMatchObject({ data: { pagination: { page: 1 } } })
    expect(JSON.stringify(bent({ missingTotal: { next: 1 } }))).not.toContain('total')
    const word = bent({ unknownWord: { next: 1, place: 'data.jobs[].seniority_rank', word: 'Wizard' } })
    expect((word as ReturnType<typeof good>).data.jobs).toEqual([
      { id: 'a', seniority_rank: 'Wizard' },
      { id: 'b', seniority_rank: 'Manager' },
    ])
  })

  test('cannot be read', () => {
    expect(bent({ unreadable: { next: 1 } })).toMatch(/^<!doctype html>/)
    expect(bent({ unreadable: { next: 1, as: 'text' } })).toMatchObject({ data: 'x' })
    expect(bent({ unreadable: { next: 1, as: 'list' } })).toEqual([])
    expect(() => JSON.parse(bent({ unreadable: { next: 1, as: 'cut' } }) as string) as unknown).toThrow(
      'JSON',
    )
  })
})

describe('a request', () => {
  test('is dropped a filter, with or without a word about it', () => {
    const body = { functions: ['Sales'], page: 1 }
    expect(read({ droppedFilters: [{ key: 'functions' }] }, body)).toEqual({
      text: '{"page":1}',
      ignoredFields: ['functions'],
      renamedFields: [],
    })
    expect(read({ droppedFilters: [{ key: 'functions', silent: true }] }, body).ignoredFields).toEqual([])
    expect(read({ droppedFilters: [{ key: 'other' }] }, body).ignoredFields).toEqual([])
  })

  test('has a parameter that bears another name now', () => {
    const renamed = (isFollowed: boolean) => ({
      renamedKeys: [{ from: 'domains', to: 'company_domains', isFollowed }],
    })
    const both = [{ from: 'domains', to: 'company_domains' }]
    expect(read(renamed(false), { domains: ['a'] })).toEqual({
      text: '{}',
      ignoredFields: ['domains'],
      renamedFields: both,
    })
    expect(read(renamed(true), { domains: ['a'] })).toEqual({
      text: '{"domains":["a"]}',
      ignoredFields: [],
      renamedFields: both,
    })
    expect(read(renamed(false), { company_domains: ['a'] })).toEqual({
      text: '{"domains":["a"]}',
      ignoredFields: [],
      renamedFields: [],
    })
    // Each entry of a batch has the keys of a single request.
    const peoples = [{ domains: 1, email: 'a' }, { company_domains: 2 }]
    expect(read(renamed(false), { peoples })).toEqual({
      text: '{"peoples":[{"email":"a"},{"domains":2}]}',
      ignoredFields: ['domains'],
      renamedFields: both,
    })
  })
})

test('faults that are taken back are those of the start', () => {
  const faults = createFaultSwitch({ paymentIdentifier: true })
  faults.set({ paymentIdentifier: false, rateLimit: { limit: 20, windowMs: 1_000 } })
  expect(faults.reset()).toMatchObject({ paymentIdentifier: true, rateLimit: null })
})
