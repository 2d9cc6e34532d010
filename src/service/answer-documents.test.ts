import fc from 'fast-check'
import { afterEach, expect, test, vi } from 'vitest'
import { AnswerDocuments, answerDocuments } from './answer-documents.ts'
import { companyProfile } from './endpoints/company-profile.ts'
import { creditsOf, warningsOf } from './schema/metadata.ts'

afterEach(() => void vi.useRealTimers())

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
      answerDocuments.drop(text)
      const read = [creditsOf(text), warningsOf(text)]
      companyProfile.decode(text)
      expect(answerDocuments.of(text)).toEqual(JSON.parse(text))
      expect([creditsOf(text), warningsOf(text)]).toEqual(read)
    }),
  )
})

test('what was decoded is kept until it is dropped, and a text that is no JSON is not', () => {
  for (const text of ['{', 'null', '7', '']) {
    companyProfile.decode(text)
    expect(answerDocuments.of(text)).toBeUndefined()
  }
  const text = '{"data":{"company_name":"Acme"}}'
  const { data } = companyProfile.decode(text)
  expect((answerDocuments.of(text) as { data: unknown }).data).toBe(data)
  answerDocuments.drop(text)
  expect(answerDocuments.of(text)).toBeUndefined()
})

test('the oldest go where nobody drops them, and long texts are not kept', () => {
  const documents = new AnswerDocuments()
  documents.keep('first', {})
  for (let each = 0; each < 127; each++) documents.keep(`text ${each}`, {})
  expect(documents.of('first')).toBeDefined()
  documents.keep('one more', {})
  expect(documents.of('first')).toBeUndefined()
  expect(documents.of('one more')).toBeDefined()
  const long = 'x'.repeat(16_001)
  documents.keep(long, {})
  expect(documents.of(long)).toBeUndefined()
})

// An instance of its own: the process's may have begun to wait by the real clock, for another file of this worker.
test('what nobody drops is forgotten after half a minute, and nothing is kept for good', () => {
  vi.useFakeTimers()
  const documents = new AnswerDocuments()
  documents.keep('free of charge', {})
  vi.advanceTimersByTime(29_999)
  expect(documents.of('free of charge')).toBeDefined()
  vi.advanceTimersByTime(1)
  expect(documents.of('free of charge')).toBeUndefined()
  documents.keep('the next one', {})
  vi.advanceTimersByTime(30_000)
  expect(documents.of('the next one')).toBeUndefined()
})
