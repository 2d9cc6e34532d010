import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testSeed } from '../../../test/support/seed.ts'
import { createShapeCounts, shapeOf } from './answer-shape.ts'

const told = (answer: unknown) => shapeOf(answer).map(({ path, type }) => `${path} ${type}`)

describe('the shape of an answer', () => {
  test('names each field once with its type, the entries of lists folded', () => {
    const jobs = [
      { job_search_id: '1', functions: ['Sales', 'Marketing'], base_salary: null },
      { job_search_id: 2, functions: [], base_salary: { amount: 1.5 } },
    ]
    expect(told({ data: { jobs, is_complete: true } })).toEqual([
      ' object',
      'data object',
      'data.jobs array',
      'data.jobs[] object',
      'data.jobs[].job_search_id string',
      'data.jobs[].functions array',
      'data.jobs[].functions[] string',
      'data.jobs[].base_salary null',
      'data.jobs[].job_search_id number',
      'data.jobs[].base_salary object',
      'data.jobs[].base_salary.amount number',
      'data.is_complete boolean',
    ])
    expect(told([])).toEqual([' array'])
    expect(told('text')).toEqual([' string'])
  })

  test.each([
    'Jane Doe',
    'ada@acme.example',
    'acme.example',
    '+4930901820',
    'Jane',
    'user_4711842',
    '0b2c4d6e8f0a1b2c',
    '__proto__',
    'x'.repeat(41),
  ])('has a star for a name that may be a value: %s', (name) => {
    const answer = JSON.parse(`{"data":{${JSON.stringify(name)}:{"seen":1}}}`) as unknown
    expect(told(answer)).toEqual([' object', 'data object', 'data.* object', 'data.*.seen number'])
  })

  test('takes an object with very many names for a map', () => {
    const map = Object.fromEntries(
      Array.from({ length: 200 }, (_, at) => [`name_${String.fromCharCode(97 + (at % 26))}${at}`, 1]),
    )
    expect(told({ people: map })).toEqual([' object', 'people object', 'people.* number'])
  })

  test('is bounded, and has no value of the answer', () => {
    let deep: unknown = 'secret'
    for (let level = 0; level < 50; level++) deep = { deep }
    expect(shapeOf(deep).length).toBeLessThan(12)
    const wide = Object.fromEntries(
      Array.from({ length: 79 }, (_, at) => [
        `a${at}`,
        Object.fromEntries(Array.from({ length: 79 }, (__, each) => [`b${each}`, 1])),
      ]),
    )
    expect(shapeOf(wide)).toHaveLength(400)
    fc.assert(
      fc.property(fc.jsonValue(), fc.string({ minLength: 3 }), (value, secret) => {
        const fields = shapeOf({ data: [value, { name: `§${secret}` }] })
        expect(fields.length).toBeLessThanOrEqual(400)
        for (const { path } of fields) expect(path).toMatch(/^([a-z0-9_*.[\]])*$/)
        expect(JSON.stringify(fields)).not.toContain('§')
      }),
      { seed: testSeed(), numRuns: 300 },
    )
  })
})

describe('the fields of many answers', () => {
  test('have the number of answers that had them, each answer once, since they were taken', () => {
    const counts = createShapeCounts()
    counts.add({ data: [{ city: 'Berlin' }, { city: 'Paris' }] })
    counts.add({ data: [{ city: null }] })
    expect(counts.take()).toEqual([
      { path: '', type: 'object', answers: 2 },
      { path: 'data', type: 'array', answers: 2 },
      { path: 'data[]', type: 'object', answers: 2 },
      { path: 'data[].city', type: 'string', answers: 1 },
      { path: 'data[].city', type: 'null', answers: 1 },
    ])
    expect(counts.take()).toEqual([])
    counts.add({ data: null })
    expect(counts.take()).toEqual([
      { path: '', type: 'object', answers: 1 },
      { path: 'data', type: 'null', answers: 1 },
    ])
  })

  test('are the sums of those of each answer, in whatever order they come', () => {
    const answers = fc.array(fc.array(fc.jsonValue({ maxDepth: 4 }), { maxLength: 5 }), { maxLength: 4 })
    fc.assert(
      fc.property(answers, (turns) => {
        const counts = createShapeCounts()
        for (const turn of turns) {
          const sums = new Map<string, number>()
          for (const answer of turn) {
            counts.add(answer)
            for (const { path, type } of shapeOf(answer))
              sums.set(`${path} ${type}`, (sums.get(`${path} ${type}`) ?? 0) + 1)
          }
          const taken = counts.take().map(({ path, type, answers: of }) => [`${path} ${type}`, of] as const)
          expect(new Map(taken)).toEqual(sums)
          expect(taken).toHaveLength(sums.size)
        }
      }),
      { seed: testSeed(), numRuns: 200 },
    )
  })

  test('stay right when places that were never seen again are forgotten', () => {
    const counts = createShapeCounts()
    for (let turn = 0; turn < 200; turn += 1) {
      const letters = (at: number) => String.fromCharCode(97 + (at % 26), 97 + (Math.floor(at / 26) % 26))
      const names = Array.from({ length: 70 }, (_, at) => [`n${letters(turn)}${letters(at)}`, 1])
      counts.add(Object.fromEntries(names))
      expect(counts.take()).toHaveLength(71)
    }
  })
})
