import { describe, expect, test } from 'vitest'
import type { FieldValue } from '../record.ts'
import { strayAddressParts } from './address-parts.ts'
import { decideWrite } from './write-decision.ts'

const ours = {
  street: 'Theresienhöhe 12',
  city: 'Munich',
  state: 'Bavaria',
  postal_code: '80339',
  country_code: 'DE',
}
const set = (values: Record<string, FieldValue>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { set: value }]))

function stray(current: Record<string, FieldValue>, address: Record<string, FieldValue> = ours): string[] {
  const wanted = set(address)
  const blanks = Object.entries(wanted).filter(([name]) => !(name in current))
  return strayAddressParts(current, wanted, Object.fromEntries(blanks))
}

describe('the parts of an address', () => {
  test.each<[string, Record<string, FieldValue>]>([
    ['nothing', {}],
    ['the same city', { city: 'munich' }],
    ['the same country', { country_code: 'DE', city: 'Munich' }],
    ['a postal code of ours and a street', { postal_code: '80339', state: 'Bavaria' }],
  ])('go beside %s', (_, current) => {
    expect(stray(current)).toEqual([])
  })

  test.each<[string, Record<string, FieldValue>]>([
    ['another city', { city: 'Berlin' }],
    ['another country', { country_code: 'FR' }],
    ['another postal code', { postal_code: '10117' }],
    ['another street', { street: 'Old Street 7' }],
  ])('do not go beside %s', (_, current) => {
    expect(stray(current)).not.toEqual([])
    expect(stray(current).every((part) => !(part in current))).toBe(true)
  })

  test('do not go beside a part that ours lacks, unless city or postal code agree', () => {
    const { city: _city, ...withoutCity } = ours
    expect(stray({ city: 'Munich' }, { postal_code: '80339' })).toEqual(['postal_code'])
    expect(stray({ city: 'Munich', postal_code: '80339' }, withoutCity)).toEqual([])
    expect(stray({ city: 'Munich' }, withoutCity)).toEqual(['street', 'state', 'postal_code'])
    const { state: _state, ...withoutState } = ours
    expect(stray({ state: 'Bavaria', city: 'Munich' }, withoutState)).toEqual([])
  })

  test('know a state by its code', () => {
    const address = { street: '500 Main St', city: 'Seattle', state: 'Washington', country_code: 'US' }
    expect(stray({ state: 'WA' }, address)).toEqual([])
    expect(stray({ state: 'OR' }, address)).toEqual(['street', 'city', 'country_code'])
  })

  test('take their country with them where another place stands there, and not beside another street', () => {
    const parts = ['street', 'state', 'postal_code', 'country_code']
    expect(stray({ city: 'Leeds' })).toEqual(parts)
    const { country_code: _, ...place } = ours
    expect(stray({ ...place, city: 'Leeds' })).toEqual(['country_code'])
    expect(stray({ street: 'Old Street 7' })).toEqual(['city', 'state', 'postal_code'])
    expect(stray(place)).toEqual([])
  })

  test('that are replaced by policy are no other address', () => {
    expect(strayAddressParts({ city: 'Berlin' }, set(ours), set(ours))).toEqual([])
  })

  test('are left out of a write with their reason, and the rest is written', () => {
    const current = { state: 'present' as const, values: { city: 'Berlin' } }
    const by = { ours: {}, open: [], rule: () => 'fill_blank' as const }
    const decided = decideWrite({ patch: set({ ...ours, description: 'Ropes' }) }, current, by)
    expect(decided).toMatchObject({ kind: 'write' })
    expect(Object.keys(decided.kind === 'write' ? decided.patch : {})).toEqual(['description'])
    expect(decideWrite({ patch: set(ours) }, current, by)).toMatchObject({
      kind: 'end',
      reason:
        'the record has another address: street, state, postal_code, country_code; filled already: city',
    })
  })
})
