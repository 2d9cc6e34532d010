import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { dropDocument, keepDocument, keptDocument } from './answer-documents.ts'
import { companyProfile } from './endpoints/company-profile.ts'
import { creditsOf, warningsOf } from './schema/metadata.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.runAllTimers()
  vi.useRealTimers()
})

const count = fc.oneof(fc.integer(), fc.constant('7'), fc.constant(null), fc.jsonValue({ maxDepth: 1 }))
const block = fc.record(
  { credit: count, topup_credit: count, total_credit_cost: count },
  { requiredKeys: [] },
)
const names = fc.oneof(fc.array(fc.string()), fc.dictionary(fc.string(), fc.string()), fc.jsonValue())
const body = fc
  .record(
    {
      data: fc.oneof(fc.record({ profile: block }), fc.jsonValue({ maxDepth: 2 })),
      metadata: fc.record(
        { profile: block, ignored_fields: names, renamed_fields: names },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: [] },
  )
  .map((answer) => JSON.stringify(answer))

test('an answer says the same of its cost and its warnings, whether its document is kept or not', () => {
  fc.assert(
    fc.property(body, (text) => {
      dropDocument(text)
      const read = [creditsOf(text), warningsOf(text)]
      companyProfile.decode(text)
      expect(keptDocument(text)).toEqual(JSON.parse(text))
      expect([creditsOf(text), warningsOf(text)]).toEqual(read)
    }),
  )
})

test('what was decoded is kept until it is dropped, and a text that is no JSON is not', () => {
  for (const text of ['{', 'null', '7', '']) {
    companyProfile.decode(text)
    expect(keptDocument(text)).toBeUndefined()
  }
  const text = '{"data":{"company_name":"Acme"}}'
  const { data } = companyProfile.decode(text)
  expect((keptDocument(text) as { data: unknown }).data).toBe(data)
  dropDocument(text)
  expect(keptDocument(text)).toBeUndefined()
})

test('the oldest go where nobody drops them, and long texts are not kept', () => {
  keepDocument('first', {})
  for (let each = 0; each < 127; each++) keepDocument(`text ${each}`, {})
  expect(keptDocument('first')).toBeDefined()
  keepDocument('one more', {})
  expect(keptDocument('first')).toBeUndefined()
  expect(keptDocument('one more')).toBeDefined()
  const long = 'x'.repeat(16_001)
  keepDocument(long, {})
  expect(keptDocument(long)).toBeUndefined()
})

test('what nobody drops is forgotten after half a minute, and nothing is kept for good', () => {
  companyProfile.decode('{"data":{"company_name":"Free of charge"}}')
  vi.advanceTimersByTime(29_999)
  expect(keptDocument('{"data":{"company_name":"Free of charge"}}')).toBeDefined()
  vi.advanceTimersByTime(1)
  expect(keptDocument('{"data":{"company_name":"Free of charge"}}')).toBeUndefined()
  companyProfile.decode('{"data":{"company_name":"The next one"}}')
  vi.advanceTimersByTime(30_000)
  expect(keptDocument('{"data":{"company_name":"The next one"}}')).toBeUndefined()
})
