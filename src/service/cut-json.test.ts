import fc from 'fast-check'
import { expect, test } from 'vitest'
import { testSeed } from '../../test/support/seed.ts'
import { closeCutJson } from './cut-json.ts'

test.each([
  ['{"data":{"a":1,"b":"two', '{"data":{"a":1}}'],
  ['{"data":{"a":1,"b":12', '{"data":{"a":1}}'],
  ['{"data":{"a":"}]\\"","b":tr', '{"data":{"a":"}]\\""}}'],
  // An element that is not complete is left out as a whole, and a list without one too.
  ['{"data":{"peoples":[{"id":1},{"id":2,"emails":["a"],', '{"data":{"peoples":[{"id":1}]}}'],
  ['{"data":{"a":1,"peoples":[{"id":1,"b', '{"data":{"a":1}}'],
  ['{"data":{"emails":["a@b.example","c@', '{"data":{"emails":["a@b.example"]}}'],
  ['{"data":{"a":{"b":{"c":1,"d":2', '{"data":{"a":{"b":{"c":1}}}}'],
  ['{"data":{"a":1}', '{"data":{"a":1}}'],
  ['[1,2,3', '[1,2]'],
])('%s', (cut, closed) => expect(closeCutJson(cut)).toBe(closed))

test.each([
  '',
  '{',
  '[',
  '{"data":{"a',
  '{"data":{"peoples":[{"id":1',
  '"text',
  '12',
  'null',
  '}',
  '{"a":1}',
])('nothing complete is left open in %j', (text) => expect(closeCutJson(text)).toBeUndefined())

test(`a cut JSON text is closed to a part of it, or given up (seed ${testSeed()})`, () => {
  let closedOnes = 0
  fc.assert(
    fc.property(fc.jsonValue(), fc.double({ min: 0, max: 1, noNaN: true }), (value, share) => {
      const text = JSON.stringify(value)
      const closed = closeCutJson(text.slice(0, Math.floor(text.length * share)))
      if (closed === undefined) return
      closedOnes += 1
      expectPart(JSON.parse(closed), value)
    }),
    { numRuns: 2_000, seed: testSeed() },
  )
  expect(closedOnes).toBeGreaterThan(50)
})

/** Each value of the part is in the whole at the same place. */
function expectPart(part: unknown, whole: unknown): void {
  if (Array.isArray(part)) {
    expect(part.length).toBeLessThanOrEqual((whole as unknown[]).length)
    part.forEach((each, at) => expect(each).toEqual((JSON.parse(JSON.stringify(whole)) as unknown[])[at]))
  } else if (typeof part === 'object' && part !== null) {
    for (const [name, each] of Object.entries(part))
      expectPart(each, (whole as Record<string, unknown>)[name])
  } else expect(part).toEqual(JSON.parse(JSON.stringify(whole)))
}

test('two megabytes are closed in a moment', () => {
  const text = `{"data":{"peoples":[${'{"id":"1","emails":["a"]},'.repeat(80_000)}{"id"`
  const start = process.cpuUsage()
  expect(JSON.parse(closeCutJson(text)!).data.peoples).toHaveLength(80_000)
  expect(closeCutJson('['.repeat(2_000_000))).toBeUndefined()
  expect(process.cpuUsage(start).user).toBeLessThan(3_000_000)
})
