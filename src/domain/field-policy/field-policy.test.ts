import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testSeed } from '../../../test/support/seed.ts'
import { applyPolicy, fieldRules, fillBlank, type FieldRule, type KeptReason } from './field-policy.ts'
import type { FieldChange, FieldValue, Patch } from '../record.ts'

const decide = (
  rule: FieldRule,
  now: FieldValue | undefined,
  change: FieldChange,
  ours?: FieldValue,
  field = 'job_title',
) => {
  const { patch, kept } = applyPolicy({
    current: now === undefined ? {} : { [field]: now },
    proposed: { [field]: change },
    ours: { [field]: ours },
    rule: () => rule,
  })
  return kept[0]?.why ?? (Object.keys(patch).length > 0 ? 'written' : 'lost')
}

describe('each rule', () => {
  const set: FieldChange = { set: 'CTO' }
  const clear: FieldChange = { clear: true }
  type Row = [
    string,
    FieldValue | undefined,
    FieldValue | undefined,
    FieldChange,
    ...(KeptReason | 'written')[],
  ]
  test.each<Row>([
    // now, ours, change; fill_blank, overwrite_ours, overwrite
    ['a blank', undefined, undefined, set, 'written', 'written', 'written'],
    ['white space', ' \t', undefined, set, 'written', 'written', 'written'],
    ['white space over white space of ours', ' ', '  ', set, 'written', 'written', 'written'],
    ['a foreign value', 'CEO', undefined, set, 'filled', 'filled', 'written'],
    ['the value itself', 'CTO', undefined, set, 'same', 'same', 'same'],
    ['our value', 'CEO', 'CEO', set, 'filled', 'written', 'written'],
    ['our value in another form', ' CEO ', 'CEO', set, 'filled', 'written', 'written'],
    ['our value, changed by a person', 'Boss', 'CEO', set, 'edited', 'edited', 'edited'],
    ['our value, cleared by a person', undefined, 'CEO', set, 'edited', 'edited', 'edited'],
    ['a value that a person corrected', 'CTO', 'CEO', set, 'same', 'same', 'same'],
    ['clearing a blank', undefined, undefined, clear, 'same', 'same', 'same'],
    ['clearing a foreign value', 'CEO', undefined, clear, 'filled', 'filled', 'written'],
    ['clearing our value', 'CEO', 'CEO', clear, 'filled', 'written', 'written'],
    ['clearing a value that a person changed', 'Boss', 'CEO', clear, 'edited', 'edited', 'edited'],
    ['nothing found over a blank', undefined, undefined, { set: ' ' }, 'same', 'same', 'same'],
    ['nothing found over a value', 'CEO', 'CEO', { set: '' }, 'same', 'same', 'same'],
  ])('%s', (_, now, ours, change, fill, overwriteOurs, overwrite) => {
    expect(decide('fill_blank', now, change, ours)).toBe(fill)
    expect(decide('overwrite_ours', now, change, ours)).toBe(overwriteOurs)
    expect(decide('overwrite', now, change, ours)).toBe(overwrite)
    expect(decide('never', now, change, ours)).toBe('never')
  })

  test('each field has its own rule, and a field left out says why', () => {
    const decision = applyPolicy({
      current: { city: 'Lyon', job_title: 'CEO' },
      proposed: {
        city: { set: 'Paris' },
        job_title: { set: 'CTO' },
        about: { set: 'Text' },
        email: { set: 'a@b.example' },
      },
      ours: {},
      rule: (field) => (field === 'job_title' ? 'overwrite' : field === 'email' ? 'never' : 'fill_blank'),
    })
    expect(decision).toEqual({
      patch: { job_title: { set: 'CTO' }, about: { set: 'Text' } },
      kept: [
        { field: 'city', why: 'filled' },
        { field: 'email', why: 'never' },
      ],
    })
  })
})

describe('a difference of form is no change', () => {
  test.each<[field: string, now: FieldValue, proposed: FieldValue]>([
    ['phone', '(415) 555-2671', '+14155552671'],
    ['mobile_phone', '0033 6 12 34 56 78', '+33612345678'],
    ['domain', 'https://www.ACME.co.uk/about', 'acme.co.uk'],
    ['domain', 'shop.acme.co.uk', 'acme.co.uk'],
    ['domain', 'münchen.example', 'xn--mnchen-3ya.example'],
    ['website', 'acme.example', 'https://www.acme.example/'],
    ['website', 'http://acme.example/de/?utm_source=x', 'https://acme.example/de'],
    ['profnet_url', 'de.profnet.example/in/Ada/', 'https://www.profnet.example/in/ada'],
    [
      'company_profnet_url',
      'http://profnet.example/company/acme?x=1',
      'https://www.profnet.example/company/acme',
    ],
    ['country_code', 'Germany', 'DE'],
    ['country_code', 'UK', 'GB'],
    ['email', 'Ada.Moreau@Acme.Example', 'ada.moreau@acme.example'],
    ['employees', '1,200', 1200],
    ['founded_year', '1998', 1998],
    ['company_name', 'Socie\u0301te\u0301  Ge\u0301ne\u0301rale ', 'Société Générale'],
    ['industry', 'HOSPITAL_HEALTH_CARE', 'Hospital & Health Care'],
    ['description', 'Makers of fine…', 'Makers of fine robots since 1998'],
  ])('%s: %j is %j', (field, now, proposed) => {
    const current = field.endsWith('phone') ? { [field]: now, country_code: 'US' } : { [field]: now }
    expect(
      applyPolicy({ current, proposed: { [field]: { set: proposed } }, ours: {}, rule: () => 'overwrite' }),
    ).toEqual({ patch: {}, kept: [{ field, why: 'same' }] })
  })

  test.each<[field: string, now: FieldValue, proposed: FieldValue]>([
    ['phone', '+1 415 555 2671 ext. 12', '+14155552671'],
    ['phone', 'ask Bob', '+14155552671'],
    ['domain', 'acme.github.io', 'other.github.io'],
    ['domain', 'acme.co.uk', 'other.co.uk'],
    ['website', 'https://acme.example/de', 'https://acme.example/fr'],
    ['email', 'a.b@gmail.com', 'ab@gmail.com'],
    ['country_code', 'Georgia', 'US'],
    ['company_name', 'ACME', 'Acme'],
    ['company_name', '青空', 'Aozora'],
    ['employees', 1200, 1201],
    ['description', '…', 'Makers of fine robots'],
  ])('%s: %j is not %j', (field, now, proposed) => {
    expect(decide('overwrite', now, { set: proposed }, undefined, field)).toBe('written')
  })
})

describe('for any record, patch and rules', () => {
  const names = [
    'phone',
    'domain',
    'website',
    'email',
    'employees',
    'company_name',
    'country_code',
    'constructor',
  ]
  const value: fc.Arbitrary<FieldValue> = fc.oneof(
    fc.constantFrom<FieldValue>(
      '+14155552671',
      '(415) 555-2671',
      'acme.example',
      'www.acme.example',
      'DE',
      'Germany',
      '',
      ' ',
    ),
    fc.string({ maxLength: 8 }),
    fc.integer(),
    fc.boolean(),
  )
  const values = fc.dictionary(fc.constantFrom(...names), value)
  const patches = fc.dictionary(
    fc.constantFrom(...names),
    fc.oneof(
      value.map((set) => ({ set })),
      fc.constant({ clear: true as const }),
    ),
  )
  const rules = fc.dictionary(fc.constantFrom(...names), fc.constantFrom(...fieldRules))
  const cases = fc
    .record({ current: values, proposed: patches, ours: values, rules })
    .map(({ rules, ...rest }) => ({
      ...rest,
      rule: (field: string): FieldRule =>
        Object.hasOwn(rules, field) ? (rules[field] as FieldRule) : 'fill_blank',
    }))
  const params = { seed: testSeed(), numRuns: 1000 }
  const written = (current: Record<string, FieldValue>, patch: Patch) => {
    const next = { ...current }
    for (const [field, change] of Object.entries(patch)) {
      if ('set' in change) next[field] = change.set
      else delete next[field]
    }
    return next
  }

  test('deciding on the decision changes nothing, and once written there is nothing left to write', () => {
    fc.assert(
      fc.property(cases, (input) => {
        const { patch, kept } = applyPolicy(input)
        expect([...Object.keys(patch), ...kept.map(({ field }) => field)].sort()).toEqual(
          Object.keys(input.proposed).sort(),
        )
        expect(applyPolicy({ ...input, proposed: patch })).toEqual({ patch, kept: [] })
        const after = { ...input, current: written(input.current, patch), ours: { ...input.ours } }
        for (const [field, change] of Object.entries(patch))
          after.ours[field] = 'set' in change ? change.set : ''
        expect(applyPolicy(after).patch).toEqual({})
      }),
      params,
    )
  })

  test('nothing good is replaced by nothing, and a person’s edit is kept', () => {
    fc.assert(
      fc.property(cases, (input) => {
        const { patch } = applyPolicy(input)
        for (const [field, change] of Object.entries(patch)) {
          if ('set' in change) expect(String(change.set).trim()).not.toBe('')
          const wrote = Object.hasOwn(input.ours, field) ? String(input.ours[field]).trim() : ''
          const isBlankNow = !Object.hasOwn(input.current, field)
          if (wrote !== '' && isBlankNow)
            throw new Error(`${field} was cleared by a person and is filled again`)
          expect(input.rule(field)).not.toBe('never')
        }
        const filled = fillBlank(input.current, input.proposed)
        for (const field of Object.keys(filled))
          expect(String(Object.hasOwn(input.current, field) ? input.current[field] : '').trim()).toBe('')
      }),
      params,
    )
  })
})
