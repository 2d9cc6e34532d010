import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { testSeed } from '../../../test/support/seed.ts'
import { companySchema } from './company.ts'
import { enrichedCompanySchema } from './enrichment.ts'
import { personSchema } from './person.ts'
import { plainCheck } from './plain-check.ts'

const company = {
  company_name: 'Acme',
  company_size: 12,
  domain: null,
  company_addresses: ['1 Main St', null],
  people: [{ name: 'Jane', more: { any: ['thing'] } }],
  recent_activities: [{ date: 'today', likes_count: 3, repost: { images: [1] } }],
  never_seen_before: { kept: true },
}

test.each([
  ['a company', companySchema, company],
  ['an enriched company', enrichedCompanySchema, { ...company, jobs: [{ title: 'Cook' }], news: null }],
  ['a person', personSchema, { name: 'Jane', employment_history: [{ positions: [{ title: 'Cook' }] }] }],
  ['an empty record', companySchema, {}],
])('%s passes as it is', (_, schema, value) => {
  expect(plainCheck(schema)(value)).toBe(true)
  expect(schema.parse(value)).toEqual(value)
})

test.each([
  ['a list instead of a text', { industry: [] }],
  ['a text instead of a number', { company_size: '12' }],
  ['a number that is too large for any', JSON.parse('{"company_size":1e400}')],
  ['a number in a list of texts', { company_addresses: [1] }],
  ['a fault within a list', { people: [{ name: 1 }] }],
  ['a list', []],
  ['a text', 'Acme'],
  ['nothing', null],
  ['a field that zod drops', JSON.parse('{"__proto__":{"domain":"a.com"}}')],
])('%s is left to zod', (_, value) => {
  expect(plainCheck(companySchema)(value)).toBe(false)
})

test.each([
  ['a pattern', z.string().regex(/a/)],
  ['a trim', z.string().trim()],
  ['an e-mail', z.email()],
  ['a whole number', z.int()],
  ['a least number', z.number().min(1)],
  ['a refinement', z.unknown().refine(() => false)],
  [
    'a refinement of what may be absent',
    z
      .string()
      .optional()
      .refine(() => false),
  ],
  ['a short list', z.array(z.string()).max(1)],
  ['a default', z.string().default('x')],
  ['a catch', z.string().catch('x')],
  ['a transformation', z.string().transform(Number)],
  ['a choice', z.union([z.string(), z.number()])],
  ['an object that drops unlisted fields', z.object({})],
  ['an object that refuses unlisted fields', z.strictObject({})],
  ['an object with a refinement', z.looseObject({}).refine(() => false)],
])('nothing is said of a schema with %s', (_, part) => {
  const isPlain = plainCheck(z.looseObject({ part }))
  for (const value of ['a', 'a@b.com', 1, 5, undefined, [], ['a'], {}])
    expect(isPlain({ part: value })).toBe(false)
})

test('what passes comes out of zod unchanged, whatever stands in it', () => {
  const scalar = fc.constantFrom<unknown>(null, 'text', '', 0, -1.5, Infinity, true, [], {})
  const nested = fc.oneof(
    scalar,
    fc.array(scalar, { maxLength: 2 }),
    fc.array(fc.dictionary(fc.constantFrom('name', 'title', 'date', 'x'), scalar), { maxLength: 2 }),
  )
  const names = fc.constantFrom(...Object.keys(companySchema.shape), '__proto__', 'unlisted')
  const records = fc.dictionary(names, nested, { maxKeys: 4 })
  const isPlain = plainCheck(companySchema)
  let passed = 0
  fc.assert(
    fc.property(records, (record) => {
      const checked = companySchema.safeParse(record)
      if (!isPlain(record)) return
      passed += 1
      expect(checked).toEqual({ success: true, data: record })
    }),
    { seed: testSeed(), numRuns: 2_000 },
  )
  expect(passed).toBeGreaterThan(200)
})
