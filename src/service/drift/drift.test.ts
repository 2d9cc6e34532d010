import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createCatalogue } from '../catalogue/catalogue.ts'
import { nothingSeen, provenanceOf } from '../catalogue/provenance.ts'
import type { Operation } from '../../domain/words.ts'
import { problemOf, readPage } from '../calls/read-answer.ts'
import { addAnswer, openBook } from './answer-book.ts'
import { compare } from './compare.ts'
import { shapeOf } from '../observations/answer-shape.ts'
import { findPlaces } from './find-places.ts'

const catalogue = createCatalogue()
const at = new Date('2026-11-22T10:00:00Z')
const row = (id: number) => ({ job_search_id: `j${id}`, functions: ['Sales'], title: 'x' })
const page = (data: object) => ({ data, metadata: { profile: { credit: 9, total_credit_cost: 1 } } })

function comparison(operation: Operation, ...answers: unknown[]) {
  const book = openBook(catalogue.of(operation))
  answers.forEach((answer, index) => addAnswer(book, answer, new Date(+at + index * 1_000)))
  const claims = provenanceOf(catalogue.of(operation), { ...nothingSeen, fields: [...book.fields.values()] })
  return compare(book, claims, () => [])
}

describe('the names of an answer', () => {
  test('stand with their types, each once', () => {
    expect(shapeOf({ data: { jobs: [row(1), { a: null }], n: 1, ok: true } })).toEqual([
      { path: '', type: 'object' },
      { path: 'data', type: 'object' },
      { path: 'data.jobs', type: 'array' },
      { path: 'data.jobs[]', type: 'object' },
      { path: 'data.jobs[].job_search_id', type: 'string' },
      { path: 'data.jobs[].functions', type: 'array' },
      { path: 'data.jobs[].functions[]', type: 'string' },
      { path: 'data.jobs[].title', type: 'string' },
      { path: 'data.jobs[].a', type: 'null' },
      { path: 'data.n', type: 'number' },
      { path: 'data.ok', type: 'boolean' },
    ])
  })

  test('of a table whose keys are values are one sign', () => {
    const table = { 'ann@acme.example': { seen: 1 }, 'bob@acme.example': { seen: 2 } }
    expect(shapeOf(table).map(({ path }) => path)).toEqual(['', '*', '*.seen'])
    expect(shapeOf({ by: { a1b2c3d4e5f60718: 1 } }).map(({ path }) => path)).toEqual(['', 'by', 'by.*'])
  })

  // Property: no value of an answer is among them, whatever it holds and where.
  test('hold no value', () => {
    const secret = fc.stringMatching(/^[A-Za-z0-9 @.]{6,20}$/).map((text) => `§${text}`)
    const name = fc.constantFrom('data', 'jobs', 'title', 'id')
    const { json } = fc.letrec((tie) => ({
      json: fc.oneof({ depthSize: 'small' }, secret, fc.array(tie('json'), { maxLength: 4 }), tie('object')),
      object: fc.dictionary(fc.oneof({ weight: 5, arbitrary: name }, secret), tie('json'), { maxKeys: 5 }),
    }))
    fc.assert(
      fc.property(json, (answer) => {
        expect(JSON.stringify(shapeOf(answer))).not.toContain('§')
      }),
      { seed: 15, numRuns: 500 },
    )
  })

  test('are bounded, however wide or deep an answer is', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(900)}1${'}'.repeat(900)}`) as unknown
    expect(shapeOf(deep).length).toBeLessThan(20)
    const wide = Object.fromEntries(
      Array.from({ length: 70 }, (_, one) => [
        `k${one}`,
        Object.fromEntries(Array.from({ length: 70 }, (_each, two) => [`n${two}`, 1])),
      ]),
    )
    expect(shapeOf(wide)).toHaveLength(400)
  })
})

describe('places that have moved', () => {
  const pagination = { page: 1, per_page: 25, total_pages: 4 }
  test.each<[string, unknown, object]>([
    ['nothing', page({ jobs: [row(1)], pagination: { total_entries: 1 } }), {}],
    [
      'the total beside its old place, and no count of pages',
      page({ jobs: [row(1)], pagination: { ...pagination, count: 90 } }),
      { total: 'data.pagination.count' },
    ],
    ['no number that is below the rows', page({ jobs: [row(1), row(2)], pagination: { total: 1 } }), {}],
    [
      'the total elsewhere, and no credit',
      { data: { jobs: [row(1)] }, metadata: { credit: 900, total_results: 31 } },
      { total: 'metadata.total_results' },
    ],
    [
      'rows by their id',
      page({ items: [row(1)], others: [{ x: 1 }], pagination: { total_entries: 1 } }),
      { rows: 'data.items' },
    ],
    [
      'an id by its difference in each row',
      page({
        jobs: [
          { posting_id: 1, company_id: 7 },
          { posting_id: 2, company_id: 7 },
        ],
        pagination: { total_entries: 2 },
      }),
      { id: 'posting_id' },
    ],
    ['rows that are the answer itself', [row(1)], { rows: '$' }],
    ['rows that are the answer, with another id', [{ posting_id: 1 }], { rows: '$', id: 'posting_id' }],
    ['rows that are `data`', { data: [row(1)], total: 4 }, { rows: 'data', total: 'total' }],
    ['no rows in an empty list or one of texts', [], {}],
    ['nothing in a list of texts', ['x'], {}],
    ['nothing in a text', '<html>', {}],
  ])('%s', (_, answer, places) => {
    expect(findPlaces(catalogue.of('job.search'), answer)).toEqual(places)
  })

  test('a document', () => {
    const answer = { result: { stage: 'x', y: 1 }, metadata: {} }
    expect(findPlaces(catalogue.of('expansion.detail'), answer)).toEqual({ at: 'result' })
    expect(findPlaces(catalogue.of('expansion.detail'), { data: null })).toEqual({})
  })
})

describe('an answer that is a bare list', () => {
  const mended = createCatalogue({ 'job.search': { fields: { rows: '$' } } }).of('job.search')

  test('is read as a page without a total, and is no drift', () => {
    expect(problemOf(mended, [row(1)])).toBeUndefined()
    expect(readPage(mended, [row(1), row(2)])).toMatchObject({
      rows: [row(1), row(2)],
      total: null,
      drift: [],
    })
    expect(readPage(mended, [{ x: 1 }]).drift).toEqual(['rows without job_search_id'])
    expect(readPage(mended, []).drift).toEqual([])
  })

  test('confirms the rows and their id', () => {
    const fields = shapeOf([row(1)]).map((field) => ({ ...field, lastSeen: at }))
    const claims = provenanceOf(mended, { ...nothingSeen, fields })
    expect(
      claims.filter(({ name }) => ['$', '[].job_search_id', '[].functions'].includes(name)),
    ).toMatchObject([
      { name: '$', provenance: { state: 'confirmed' } },
      { name: '[].job_search_id', provenance: { state: 'confirmed' } },
      { name: '[].functions', provenance: { state: 'confirmed' } },
    ])
    expect(claims.map(({ name }) => name)).not.toContain('data.pagination.total_entries')
  })

  test('is drift again when the service answers with an envelope', () => {
    expect(problemOf(mended, page({ jobs: [] }))).toBe('$ is no list')
    const fields = shapeOf(page({ jobs: [row(1)] })).map((field) => ({ ...field, lastSeen: at }))
    expect(provenanceOf(mended, { ...nothingSeen, fields }).find(({ name }) => name === '$')).toMatchObject({
      provenance: { state: 'contradicted', seen: 'its type is object' },
    })
  })
})

describe('the comparison', () => {
  const good = page({ jobs: [row(1)], pagination: { total_entries: 1 } })

  test('lists what is new and what was never seen, which are no drift', () => {
    const { drift, newFields, neverSeen } = comparison('job.search', good)
    expect(drift).toEqual([])
    expect(newFields).toEqual([{ path: 'data.jobs[].title', type: 'string' }])
    expect(neverSeen).toContain('data.jobs[].base_salary')
  })

  test('counts the newest answer: a place that has come back is no drift', () => {
    const bad = page({ jobs: [row(1)], pagination: { total: 1 } })
    expect(comparison('job.search', good, bad)).toMatchObject({
      drift: [{ name: 'data.pagination.total_entries' }],
      fix: { fields: { total: 'data.pagination.total' } },
    })
    expect(comparison('job.search', bad, good)).toMatchObject({ drift: [], fix: undefined })
  })

  test('names another type, rows without an id, and a total below the rows', () => {
    const wrong = page({ jobs: [{ ...row(1), job_search_id: { x: 1 } }], pagination: { total_entries: '1' } })
    expect(comparison('job.search', wrong).drift.map(({ name, message }) => `${name}: ${message}`)).toEqual([
      'data.pagination.total_entries: its type is string',
      'data.jobs[].job_search_id: its type is object',
    ])
    const low = page({ jobs: [row(1), row(2)], pagination: { total_entries: 1 } })
    expect(comparison('job.search', low).drift).toMatchObject([{ message: 'it is below the number of rows' }])
  })

  test('misses every place in an answer that is no object, and mends nothing', () => {
    expect(comparison('job.search', '<html>')).toMatchObject({
      drift: [{ name: 'data.jobs' }, { name: 'data.pagination.total_entries' }],
      neverSeen: [],
      fix: undefined,
    })
  })
})
