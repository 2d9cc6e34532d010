import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sized } from '../../../test/support/full-size.ts'
import { testSeed } from '../../../test/support/seed.ts'
import { InputError } from '../../domain/errors.ts'
import { createCatalogue, type Contract } from '../catalogue/catalogue.ts'
import type { RequestField } from '../catalogue/entry.ts'
import { vocabularyOf } from '../catalogue/vocabularies.ts'
import { callKey } from './call-key.ts'
import { checkCall } from './check-call.ts'

const catalogue = createCatalogue()
const options = { known: () => [], unchecked: true, limits: { all: true } }

// Property: whatever a body holds, it is refused in one line, or has a form that does not change when it is checked again.
describe('any body of any operation', () => {
  it('is refused in one line, or keeps its key and form when it is checked again', () => {
    let accepted = 0
    fc.assert(
      fc.property(anyCall(), ([contract, body]) => {
        try {
          const first = checkCall(contract, body, options)
          const again = checkCall(contract, first.body, options)
          expect(again).toEqual(first)
          expect(JSON.stringify(again.body)).toBe(JSON.stringify(first.body))
          expect(callKey(contract, JSON.parse(JSON.stringify(first.canonical)), first.page ?? 1)).toBe(
            first.key,
          )
          accepted += 1
        } catch (error) {
          if (!(error instanceof InputError)) throw error
          expect(error.message).toMatch(/^[a-z.]+: [^\p{Cc}]{5,600}$/u)
        }
      }),
      { numRuns: sized(5_000, 600), seed: testSeed() },
    )
    expect(accepted).toBeGreaterThan(200)
  })
})

const texts = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.string({ unit: 'binary', maxLength: 10 }),
  fc.webUrl(),
  fc.domain(),
  fc.emailAddress(),
  fc.constantFrom(
    'https://www.tiktok.com/@Ac me',
    'https://www.profnet.com/company/Acme%20Inc/',
    'https://de.profnet.com/in/Jos%C3%A9',
    'profnet.com/in/a%2Fb',
    'profnet.com/company/a%25b',
    'https://www.tiktok.com/@a%20b',
    'wantedly.com/companies/ÄÖ?x',
    'ds-1',
    '+49 30 123456',
    '__proto__',
    'İstanbul',
    'ﬁnance & ops',
    '2026-01-01',
  ),
)

function valueOf(field: RequestField): fc.Arbitrary<unknown> {
  const words = field.vocabulary ? [...vocabularyOf(field.vocabulary).words] : []
  const text = words.length > 0 ? fc.oneof(fc.constantFrom(...words), texts) : texts
  const day = fc.constantFrom('2026-01-01', '2026-02-28', '2026-02-30', 'x')
  const proper: Record<RequestField['is'], fc.Arbitrary<unknown>> = {
    text,
    texts: fc.array(text, { maxLength: 4 }),
    integer: fc.integer({ min: -1, max: 30 }),
    integers: fc.array(fc.nat(9), { maxLength: 4 }),
    number: fc.double(),
    flag: fc.boolean(),
    dates: fc.record({ from: day, to: day }, { requiredKeys: [] }),
    object: fc.dictionary(fc.constantFrom('stages', 'b', '__proto__', 'momentum'), fc.jsonValue()),
    objects: fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { maxLength: 2 }),
  }
  return fc.oneof({ weight: 12, arbitrary: proper[field.is] }, { weight: 1, arbitrary: fc.jsonValue() })
}

function anyCall(): fc.Arbitrary<[Contract, Record<string, unknown>]> {
  return fc.constantFrom(...catalogue.all()).chain((contract) => {
    const fields = Object.entries(contract.request)
    const required = fields.filter(([, { isRequired }]) => isRequired)
    const one = contract.oneOf ?? []
    const others = fields.filter(([name, { isRequired }]) => !isRequired && !one.includes(name))
    return fc
      .tuple(
        fc.subarray(others, { maxLength: Math.min(4, others.length) }),
        one.length > 0 ? fc.subarray([...one], { minLength: 1, maxLength: 1 }) : fc.constant([]),
      )
      .chain(([some, references]) => {
        const chosen = [
          ...required,
          ...some,
          ...references.map((name) => [name, contract.request[name] as RequestField] as const),
        ]
        return fc
          .tuple(...chosen.map(([name, field]) => valueOf(field).map((value) => [name, value] as const)))
          .map((entries): [Contract, Record<string, unknown>] => [contract, Object.fromEntries(entries)])
      })
  })
}
