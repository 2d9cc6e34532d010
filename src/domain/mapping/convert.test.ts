// One file because each type of field is converted there and back by the same table.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { countryCode, countryName } from '../normalise/country.ts'
import { phoneE164 } from '../normalise/phone.ts'
import { fitText, fromCrm, toCrm } from './convert.ts'
import type { DescribedField, FieldMapping, FieldType } from './mapping.ts'
import { testSeed } from '../../../test/support/seed.ts'

const field = (type: FieldType, more: Partial<DescribedField> = {}): DescribedField => ({
  name: 'x',
  label: 'X',
  type,
  writable: true,
  custom: false,
  ...more,
})
const options = (...values: string[]): Partial<DescribedField> => ({
  options: values.map((value) => ({ value, label: value.replaceAll('_', ' ') })),
})
const industries = options('COMPUTER_SOFTWARE', 'HOSPITAL_HEALTH_CARE', 'LOGISTICS_AND_SUPPLY_CHAIN')

describe('a value that fits', () => {
  test.each<[string, unknown, DescribedField, unknown, Pick<FieldMapping, 'as' | 'options' | 'allowNew'>?]>([
    ['text', ' Acme ', field('text'), 'Acme'],
    ['number from number', 12.5, field('number'), 12.5],
    ['number from text', '1,234,567', field('number'), 1234567],
    ['number with narrow spaces', '12\u202f000', field('number'), 12000],
    ['whole number', '12.6', field('integer'), 13],
    ['number into text', 1998, field('text', { maxLength: 4 }), '1998'],
    ['yes', 'Yes', field('boolean'), true],
    ...['true', 'Y', '1'].map((yes): [string, unknown, DescribedField, unknown] => [
      yes,
      yes,
      field('boolean'),
      true,
    ]),
    ...['False', 'NO', 'n', '0'].map((no): [string, unknown, DescribedField, unknown] => [
      no,
      no,
      field('boolean'),
      false,
    ]),
    ['a URL of any length', 'https://a.com', field('url', { maxLength: 0 }), 'https://a.com'],
    ['a URL of full length', 'https://a.com', field('url', { maxLength: 13 }), 'https://a.com'],
    ['a text of any length', 'Acme', field('text', { maxLength: 0 }), 'Acme'],
    ['day', '2026-11-20T23:30:00Z', field('date'), '2026-11-20'],
    ['time', '2026-11-20', field('datetime'), '2026-11-20T00:00:00.000Z'],
    ['day of a time east of UTC', '2026-11-20T00:30:00+02:00', field('date'), '2026-11-19'],
    ['day of a time west of UTC', '2026-11-20T23:30:00-05:00', field('date'), '2026-11-21'],
    [
      'time with a zone as Salesforce has it',
      '2026-11-20T08:00:00.000+0000',
      field('datetime'),
      '2026-11-20T08:00:00.000Z',
    ],
    ['time without a zone', '2026-11-20 08:00', field('datetime'), '2026-11-20T08:00:00.000Z'],
    ['day that is leap', '2028-02-29', field('date'), '2028-02-29'],
    ['option by label', 'Hospital & Health Care', field('option', industries), 'HOSPITAL_HEALTH_CARE'],
    [
      'option by value',
      'logistics and supply-chain',
      field('option', industries),
      'LOGISTICS_AND_SUPPLY_CHAIN',
    ],
    [
      'option by table',
      'Software Development',
      field('option', industries),
      'COMPUTER_SOFTWARE',
      { options: { 'software development': 'computer software' } },
    ],
    [
      'free picklist on request',
      'Alchemy',
      field('option', { ...industries, restricted: false }),
      'Alchemy',
      { allowNew: true },
    ],
    [
      'country by table',
      'Kosovo',
      field('option', options('Kosovo (disputed)', 'Serbia')),
      'Kosovo (disputed)',
      { as: 'country_name', options: { XK: 'Kosovo (disputed)' } },
    ],
    [
      'many options',
      'computer software; Alchemy; hospital health care',
      field('options', industries),
      'COMPUTER_SOFTWARE;HOSPITAL_HEALTH_CARE',
    ],
    ['a list', ['Computer Software', 'computer-software'], field('options', industries), 'COMPUTER_SOFTWARE'],
    [
      'option with a comma',
      'Food, Beverage',
      field('options', options('Food, Beverage', 'Food')),
      'Food, Beverage',
    ],
    ['phone', '+49 (30) 901-820', field('phone'), '+4930901820'],
    ['phone with 00', '0049 30 901820', field('phone'), '+4930901820'],
    ['phone in a text field', '+1 415 555 2671', field('text'), '+14155552671', { as: 'phone' }],
    ['country name', 'de', field('text'), 'Germany', { as: 'country_name' }],
    ['country code', 'United Kingdom', field('text'), 'GB', { as: 'country_code' }],
    ['country among codes', 'France', field('option', options('FR', 'DE')), 'FR', { as: 'country_name' }],
    [
      'country among names',
      'US',
      field('option', options('United_States', 'France')),
      'United_States',
      { as: 'country_name' },
    ],
    ['URL', 'www.profnet.com/in/x', field('url'), 'www.profnet.com/in/x'],
    ['e-mail', 'Ana@Norvik.com', field('email'), 'ana@norvik.com'],
  ])('%s', (_, value, described, expected, mapping = {}) => {
    const converted = toCrm(value as string, described, mapping)
    expect(converted).toEqual({ ok: true, value: expected })
    // A converted value converts to itself.
    expect(toCrm(expected as string, described, mapping)).toEqual(converted)
  })
})

describe('a value that does not fit', () => {
  test.each<[string, unknown, DescribedField, string, Pick<FieldMapping, 'as'>?]>([
    ['a word', 'many', field('number'), 'NOT_A_NUMBER'],
    ['a range', '11-50', field('number'), 'NOT_A_NUMBER'],
    ['a decimal comma', '1,5', field('number'), 'NOT_A_NUMBER'],
    ['maybe', 'maybe', field('boolean'), 'NOT_A_BOOLEAN'],
    ['a yes with more', 'yes, often', field('boolean'), 'NOT_A_BOOLEAN'],
    ['a no with more', 'no idea', field('boolean'), 'NOT_A_BOOLEAN'],
    ['a no at the end', 'or no', field('boolean'), 'NOT_A_BOOLEAN'],
    ['a yes at the end', 'oh yes', field('boolean'), 'NOT_A_BOOLEAN'],
    ['a number too large', '1e999', field('number'), 'NOT_A_NUMBER'],
    ['a day that is none', '2026-13-40', field('date'), 'NOT_A_DATE'],
    ['a day with more', '2026-11-20x', field('date'), 'NOT_A_DATE'],
    ['a year', '2026', field('date'), 'NOT_A_DATE'],
    ['a bare number as a URL', '0', field('url'), 'NOT_A_URL'],
    ['a host without a dot', 'localhost', field('url'), 'NOT_A_URL'],
    ['a day that no February has', '2026-02-29', field('date'), 'NOT_A_DATE'],
    ['an hour that no day has', '2026-11-20T24:30:00Z', field('datetime'), 'NOT_A_DATE'],
    ['an ambiguous day', '03/04/2026', field('date'), 'NOT_A_DATE'],
    ['no option', 'Alchemy', field('option', industries), 'NO_SUCH_OPTION'],
    [
      'no option of a free picklist',
      'Alchemy',
      field('option', { ...industries, restricted: false }),
      'NO_SUCH_OPTION',
    ],
    ['part of an option', 'Computer', field('option', industries), 'NO_SUCH_OPTION'],
    ['none of many', 'Alchemy; Magic', field('options', industries), 'NO_SUCH_OPTION'],
    ['a local number of nowhere', '030 901820', field('phone'), 'NOT_A_PHONE'],
    ['digits', '12', field('phone'), 'NOT_A_PHONE'],
    ['no country', 'Atlantis', field('text'), 'NOT_A_COUNTRY', { as: 'country_name' }],
    ['a union', 'EU', field('text'), 'NOT_A_COUNTRY', { as: 'country_code' }],
    ['a sentence', 'see our site', field('url'), 'NOT_A_URL'],
    ['a long URL', `https://a.com/${'x'.repeat(300)}`, field('url', { maxLength: 255 }), 'TOO_LONG'],
    ['half an address', 'ana@norvik', field('email'), 'NOT_AN_EMAIL'],
    ['white space', '  ', field('text'), 'BLANK'],
    ['an empty list', [], field('text'), 'BLANK'],
    ['a reference', '005', field('reference'), 'NOT_PLAIN'],
  ])('%s', (_, value, described, code, mapping = {}) => {
    const converted = toCrm(value as string, described, mapping)
    expect(converted).toMatchObject({ ok: false, code, reason: expect.stringMatching(/./) })
    const said = String(value).trim()
    if (said.length > 3) expect(JSON.stringify(converted)).not.toContain(said)
  })
})

test('a refusal names the field', () => {
  const messageOf = (described: DescribedField, value: string) => {
    const converted = toCrm(value, described)
    return converted.ok ? undefined : converted.reason
  }
  const named = { name: 'the_field' }
  expect(messageOf(field('option', { ...industries, ...named }), 'Alchemy')).toContain('"the_field"')
  expect(messageOf(field('options', { ...industries, ...named }), 'Alchemy')).toContain('"the_field"')
  expect(messageOf(field('url', { maxLength: 12, ...named }), 'https://a.com')).toMatch(
    /13 .*"the_field".* 12/,
  )
})

test('a phone without prefix belongs to the record’s country', () => {
  expect(toCrm('030 901820', field('phone'), {}, { country: 'Germany' })).toEqual({
    ok: true,
    value: '+4930901820',
  })
  expect(phoneE164('020 7946 0018', 'UK')).toBe('+442079460018')
})

test('what a point means in a number is the habit of the record’s country', () => {
  const thousand = { ok: true, value: 1000 }
  expect(toCrm('1.000', field('number'), {}, { country: 'DE' })).toEqual(thousand)
  expect(toCrm('1.000', field('text'), { as: 'number' }, { country: 'Brazil' })).toEqual(thousand)
  expect(toCrm('1,000', field('integer'), {}, { country: 'US' })).toEqual(thousand)
  expect(toCrm('1.000', field('number'), {}, { country: 'US' })).toEqual({ ok: true, value: 1 })
  // A number that is one already has no habit.
  expect(toCrm(1.234, field('number'), {}, { country: 'DE' })).toEqual({ ok: true, value: 1.234 })
})

test('a phone keeps its extension, and is refused where only half of it fits', () => {
  const [written, described] = ['+4930901820 ext. 12', field('phone', { maxLength: 19 })]
  expect(toCrm('+49 30 901820 x12', described)).toEqual({ ok: true, value: written })
  expect(toCrm(written, described)).toEqual({ ok: true, value: written })
  expect(toCrm(written, field('phone', { maxLength: 12 }))).toMatchObject({ ok: false, code: 'TOO_LONG' })
})

test('only a text is cut: a number, a URL or an address in too short a field is refused', () => {
  const four = field('text', { maxLength: 4 })
  expect(toCrm('circa 1998', four)).toEqual({ ok: true, value: 'cir…' })
  expect(toCrm(12_000, four)).toMatchObject({ ok: false, code: 'TOO_LONG' })
  for (const kind of ['year', 'url', 'email', 'domain', 'count'] as const)
    expect(toCrm('circa 1998', four, {}, { kind })).toMatchObject({ ok: false, code: 'TOO_LONG' })
})

test('a text is cut to its length, at a word where one is near, never inside a character', () => {
  expect(fitText('Maker of fine robots', 12)).toBe('Maker of…')
  expect(fitText('Maker of fine robots', 14)).toBe('Maker of fine…')
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 80 }),
      fc.integer({ min: 1, max: 60 }),
      (text, max) => {
        const cut = fitText(text, max)
        expect(cut.length).toBeLessThanOrEqual(max)
        expect(cut.isWellFormed()).toBe(text.isWellFormed() || cut.isWellFormed())
        if (text.length <= max) expect(cut).toBe(text)
        expect(fitText(cut, max)).toBe(cut)
      },
    ),
    { seed: testSeed() },
  )
})

test.each([
  ['abcdefg hijklmnop', 11, 'abcdefg hi…'],
  ['abcdefgh ijklmnop', 11, 'abcdefgh…'],
  ['abcdefghijklmnop', 11, 'abcdefghij…'],
  ['abcdef', 6, 'abcdef'],
  ['abcdef', 1, 'a'],
  ['abcdef', 2, 'a…'],
])('%j in %i letters is %j', (text, max, cut) => {
  expect(fitText(text, max)).toBe(cut)
})

test('every country goes from code to name and back', () => {
  const codes = 'US DE FR GB SE BR CZ TR CI MM HK KR RU NL AE XK BA ZA'.split(' ')
  for (const code of codes) expect(countryCode(countryName(code)!)).toBe(code)
  expect(
    ['USA', 'u.s.', 'UK', 'England', 'The Netherlands', 'czech republic', "Côte d'Ivoire"].map(countryCode),
  ).toEqual(['US', 'US', 'GB', 'GB', 'NL', 'CZ', 'CI'])
  expect(['', 'ZZ', 'EU', 'X', 'Deutschland'].map(countryCode)).toEqual(Array(5).fill(undefined))
})

test('a blank is a blank, and values come back in their type', () => {
  for (const blank of [null, undefined, '', '  ']) expect(fromCrm(blank, field('number'))).toBeUndefined()
  expect(fromCrm('12', field('number'))).toBe(12)
  expect(fromCrm(0, field('number'))).toBe(0)
  expect(fromCrm(false, field('boolean'))).toBe(false)
  expect(['true', 'false', 'maybe'].map((text) => fromCrm(text, field('boolean')))).toEqual([
    true,
    false,
    'maybe',
  ])
  expect(fromCrm('true', field('boolean'))).toBe(true)
  expect(fromCrm('Germany', field('text'), { as: 'country_name' })).toBe('DE')
  expect(fromCrm('Atlantis', field('text'), { as: 'country_name' })).toBe('Atlantis')
})

test('a conversion is idempotent', () => {
  const types: FieldType[] = [
    'text',
    'number',
    'integer',
    'boolean',
    'date',
    'datetime',
    'phone',
    'url',
    'email',
  ]
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.emailAddress(), fc.webUrl(), fc.date().map(String)),
      fc.constantFrom(...types),
      fc.integer({ min: 1, max: 40 }),
      (value, type, maxLength) => {
        const described = field(type, { maxLength })
        const once = toCrm(value, described)
        expect(once.ok ? toCrm(once.value, described) : once).toEqual(once)
      },
    ),
    { seed: testSeed() },
  )
})

describe('yes or no', () => {
  const yesNo = field('option', options('Yes', 'No'))
  test.each<[boolean, DescribedField, unknown]>([
    [true, field('boolean'), true],
    [false, field('boolean'), false],
    [true, yesNo, 'Yes'],
    [false, yesNo, 'No'],
    [false, field('option', options('true', 'false')), 'false'],
    [false, field('text'), 'No'],
  ])('%s in %o', (value, described, expected) => {
    const kind = 'flag'
    expect(toCrm(value, described, {}, { kind })).toEqual({ ok: true, value: expected })
    expect(toCrm(expected as string, described, {}, { kind })).toEqual({ ok: true, value: expected })
  })

  test('has no place among other options', () => {
    const converted = toCrm(true, field('option', options('Often', 'Rarely')), {}, { kind: 'flag' })
    expect(converted).toMatchObject({ ok: false, code: 'NO_SUCH_OPTION' })
  })
})

describe('a date of the CRM', () => {
  test.each<[unknown, 'date' | 'datetime', unknown]>([
    ['2026-11-20', 'date', '2026-11-20'],
    ['1795046400000', 'date', '2026-11-19'],
    [' 2026-11-20T00:00:00Z', 'date', '2026-11-20'],
    ['2026-11-20T08:00:00.000+0000', 'datetime', '2026-11-20T08:00:00.000Z'],
    ['2026-11-20T08:00:00Z', 'datetime', '2026-11-20T08:00:00.000Z'],
    ['1795046399987', 'datetime', '2026-11-18T23:59:59.987Z'],
    ['soon', 'date', 'soon'],
    ['', 'date', undefined],
  ])('%j as %s is %j', (value, type, expected) => {
    expect(fromCrm(value, { type })).toBe(expected)
  })
})
