import fc from 'fast-check'
import { DummyDriver, Kysely, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import { describe, expect, it } from 'vitest'
import { testSeed } from '../../../test/support/seed.ts'
import type { LookupKey } from '../../domain/keys.ts'
import type { Patch } from '../../domain/record.ts'
import { profileKeys } from '../../domain/subjects/names.ts'
import { LedgerAdapter } from '../packed/ledger-adapter.ts'
import { readJson, unpackJson } from '../packed/packed-json.ts'
import { rowForms } from './row-forms.ts'

function formsOf(packsRows: boolean) {
  const adapter = new LedgerAdapter()
  adapter.packsRows = packsRows
  const db = new Kysely<object>({
    dialect: {
      createAdapter: () => adapter,
      createDriver: () => new DummyDriver(),
      createIntrospector: (each) => new PostgresIntrospector(each),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
  return rowForms(db)
}

const packed = formsOf(true)
const plain = formsOf(false)
const seed = testSeed()
const key = 'company.profile|profnet.com/company/acme' as LookupKey
const json = fc.jsonValue({ maxDepth: 4 })

/** A value as it comes back from the database. */
const stored = (value: unknown) => readJson(JSON.stringify(value))

describe('an authorization', () => {
  const authorization = fc.record({
    terms: fc.record({
      protocol: fc.constantFrom('x402', 'mpp', 'mpp_card', 'api_key'),
      network: fc.string(),
      payTo: fc.string({ unit: 'binary' }),
      paymentIdentifier: fc.boolean(),
      raw: fc.dictionary(fc.string({ unit: 'binary' }), json),
    }),
    payer: fc.string(),
    nonce: fc.string(),
    validAfter: fc.nat(),
    validBefore: fc.nat(),
    paymentId: fc.string(),
  })

  it('comes back with the same bytes as before it was packed', () => {
    fc.assert(
      fc.property(authorization, (value) => {
        const text = JSON.stringify(value)
        const [before, after] = [plain, packed].map((forms) => readJson(forms.authorization(text)))
        expect(JSON.stringify(after)).toBe(JSON.stringify(before))
        expect(JSON.stringify(after)).toBe(JSON.stringify(JSON.parse(text)))
      }),
      { seed, numRuns: 1000 },
    )
  })

  it('keeps its times where SQL reads and corrects them', () => {
    const text = JSON.stringify({
      terms: {
        protocol: 'x402',
        raw: { validBefore: 1, of: 'a server that writes what it likes'.repeat(4) },
      },
      payer: '0x1',
      nonce: '0x2',
      validAfter: 5,
      validBefore: 1700000000,
      paymentId: 'pd_2',
    })
    const row = packed.authorization(text)
    expect(JSON.parse(row)).toMatchObject({ validAfter: 5, validBefore: 1700000000 })
    const corrected = row.replace(/"validBefore":[0-9]+/, '"validBefore":1800000000')
    expect(JSON.stringify(readJson(corrected))).toBe(text.replace('1700000000', '1800000000'))
  })
})

describe('an answer', () => {
  it('comes back as it was, whatever is in it', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), json), (value) => {
        const [before, after] = [plain, packed].map((forms) => forms.answer(key, value))
        expect(stored(after?.stored)).toEqual(stored(before?.stored))
        expect(after?.isAsGiven).toBe(before?.isAsGiven)
        if (after?.isAsGiven) expect(stored(after.stored)).toEqual(JSON.parse(JSON.stringify(value)))
      }),
      { seed, numRuns: 1000 },
    )
  })

  const company = Object.fromEntries(profileKeys.map((name) => [name, `the ${name} of a company`]))

  it('of a company takes less than half of its text', () => {
    const small = JSON.stringify(packed.answer(key, company).stored)
    expect(small.length).toBeLessThan(JSON.stringify(company).length / 2)
    expect(readJson(small)).toEqual(company)
  })

  it('tells SQL whether it has every field of a profile, and what the service said of the request', () => {
    expect(packed.answer(key, company).stored).toMatchObject({ $p: true })
    const { industry: _, ...rest } = company
    expect(packed.answer(key, { ...rest, metadata: { ignored_fields: ['x'] } }).stored).toMatchObject({
      metadata: { ignored_fields: ['x'] },
    })
    expect(packed.answer(key, rest).stored).not.toHaveProperty('$p')
  })

  it('of a search stays as it is, because SQL looks into it', () => {
    expect(packed.answer('company.search|digest' as LookupKey, company).stored).toEqual(company)
    expect(packed.answer(key, null).stored).toBeNull()
  })

  it('that looks like a packed one is not taken for one, in either form', () => {
    const hostile = { $z: 'a!!!!', $p: true, company_name: 'x'.repeat(200) }
    for (const forms of [plain, packed]) {
      for (const each of [key, 'company.search|digest' as LookupKey])
        expect(stored(forms.answer(each, hostile).stored)).toMatchObject({ $z_: 'a!!!!' })
    }
  })

  it('has no characters that the database cannot hold', () => {
    const poisoned = { company_name: `a\0b\ud800${'x'.repeat(200)}` }
    expect(packed.answer(key, poisoned).isAsGiven).toBe(false)
    expect(stored(packed.answer(key, poisoned).stored)).toEqual({
      company_name: `ab\ufffd${'x'.repeat(200)}`,
    })
  })
})

describe('a patch', () => {
  const value = fc.oneof(fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean())
  const change = fc.oneof(
    value.map((set) => ({ set })),
    value.map((restore) => ({ restore })),
    fc.constant({ clear: true as const }),
  )
  const field = fc.constantFrom('company_name', 'domain', 'website', 'employees', 'email', 'logo', 'not_ours')

  it('comes back as it was, with its fields in their order', () => {
    fc.assert(
      fc.property(fc.dictionary(field, change), (patch: Patch) => {
        const back = unpackJson(JSON.parse(JSON.stringify(packed.patch(patch)))) as Patch
        expect(back).toEqual(JSON.parse(JSON.stringify(patch)))
        expect(Object.keys(back)).toEqual(Object.keys(patch))
      }),
      { seed, numRuns: 1000 },
    )
  })

  it('names its fields by letters, where each of them has one', () => {
    const description = {
      set: 'A company that makes things of which there are many, for people who want them'.repeat(2),
    }
    expect(packed.patch({ description, domain: { clear: true } })).toMatchObject({ $f: 'GC' })
    expect(packed.patch({ description, own: { set: 1 } })).toEqual({ description, own: { set: 1 } })
    expect(packed.patch(null)).toBeNull()
  })
})

it('stores rows as they are where an older program may read them', () => {
  const long = { company_name: 'x'.repeat(500) }
  expect(plain.answer(key, long).stored).toBe(long)
  expect(plain.patch({ company_name: { set: 'x'.repeat(500) } })).toEqual({
    company_name: { set: 'x'.repeat(500) },
  })
  expect(plain.authorization('{"terms":{}}')).toBe('{"terms":{}}')
})
