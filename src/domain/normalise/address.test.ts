import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testSeed } from '../../../test/support/seed.ts'
import { parseAddress, stateCode, type AddressParts } from './address.ts'

describe('an address in one text', () => {
  test.each<[string, { country?: string; headquarters?: string }, AddressParts]>([
    [
      '1 Microsoft Way, Redmond, Washington 98052, US',
      { country: 'US' },
      { street: '1 Microsoft Way', city: 'Redmond', state: 'Washington', postal_code: '98052' },
    ],
    [
      '110 Sansome St\nFloor 9\nSan Francisco, CA 94104-1234, United States',
      {},
      { street: '110 Sansome St, Floor 9', city: 'San Francisco', state: 'CA', postal_code: '94104-1234' },
    ],
    [
      '500 Main St, Austin, Texas, 78701, US',
      {},
      { street: '500 Main St', city: 'Austin', state: 'Texas', postal_code: '78701' },
    ],
    [
      'Elisabethstr. 91, 80797 München, DE',
      { country: 'DE' },
      { street: 'Elisabethstr. 91', city: 'München', postal_code: '80797' },
    ],
    [
      'Friedrichstr. 1, Berlin 10117, DE',
      { country: 'DE' },
      { street: 'Friedrichstr. 1', city: 'Berlin', postal_code: '10117' },
    ],
    ['1 Kirkgate, Leeds LS1 4DY, GB', {}, { street: '1 Kirkgate', city: 'Leeds', postal_code: 'LS1 4DY' }],
    [
      'Theresienhöhe 12, Munich, Bavaria 80339, DE',
      { country: 'DE', headquarters: 'Munich, Bavaria' },
      { street: 'Theresienhöhe 12', city: 'Munich', state: 'Bavaria', postal_code: '80339' },
    ],
    [
      'Av. Paulista 1000, São Paulo, SP 01310-100, BR',
      { headquarters: 'São Paulo' },
      { street: 'Av. Paulista 1000', city: 'São Paulo', state: 'SP', postal_code: '01310-100' },
    ],
    [
      '100 King St, Toronto, ON M5V 2T6, CA',
      { country: 'CA' },
      { street: '100 King St', city: 'Toronto', state: 'ON', postal_code: 'M5V 2T6' },
    ],
    // The end is a state and no country.
    [
      '500 Main St, San Francisco, CA',
      { country: 'US' },
      { street: '500 Main St', city: 'San Francisco', state: 'CA' },
    ],
    [
      '500 Main St, Atlanta, Georgia',
      { country: 'US' },
      { street: '500 Main St', city: 'Atlanta', state: 'Georgia' },
    ],
    ['Oslo, NO', { headquarters: 'Oslo' }, { city: 'Oslo' }],
  ])('%j is divided', (text, hints, parts) => {
    expect(parseAddress(text, hints)).toEqual(parts)
  })

  test.each<[string, { country?: string; headquarters?: string }, AddressParts, string]>([
    [
      'Theresienhöhe 12, Munich, Bavaria 80339, DE',
      { country: 'DE' },
      { postal_code: '80339' },
      'two names, either may be the city',
    ],
    [
      'Unter den Linden, Berlin 10117, DE',
      { country: 'DE' },
      { postal_code: '10117' },
      'a street without a number',
    ],
    ['Bergen, Vestland, NO', {}, {}, 'two names and nothing else'],
    ['20121 Milano MI, IT', {}, { postal_code: '20121' }, 'a province behind the city'],
    ['1 Main St, Springfield 12345 Suite 9, US', {}, {}, 'digits in the middle'],
    ['1 Main St, Springfield, Atlantis 12345, US', {}, { postal_code: '12345' }, 'no such state'],
    ['12 Rue A, 69002 Lyon, FR', { country: 'DE' }, {}, 'another country than the answer says'],
    ['500 Main St, San Francisco, CA', {}, {}, 'California or Canada'],
    ['Friedrichstr. 1, Berlin 10117, DE', {}, {}, 'Germany or Delaware'],
    ['somewhere in the north', {}, {}, 'no country'],
    ['大阪府大阪市北区, JP', { country: 'JP' }, {}, 'no divisions'],
    ['', {}, {}, 'nothing'],
    [`1 Main St, Austin, TX 78701, US${' '.repeat(600)}`, {}, {}, 'too long for an address'],
  ])('%j is divided only as far as it is sure (%#)', (text, hints, parts) => {
    expect(parseAddress(text, hints)).toEqual(parts)
  })

  test('gives parts that stand in it, and is quick with any text', () => {
    const word = fc.constantFrom(
      '12',
      'Main St',
      'Berlin',
      '10117',
      'DE',
      'US',
      'TX',
      'Texas',
      ',',
      '\n',
      'a b',
      '  ',
    )
    const any = fc.oneof(
      fc.array(word, { maxLength: 30 }).map((words) => words.join(', ')),
      fc.string({ unit: 'binary', maxLength: 600 }),
    )
    fc.assert(
      fc.property(any, fc.constantFrom(undefined, 'DE', 'US', 'XX'), (text, country) => {
        for (const part of Object.values(parseAddress(text, { country })))
          for (const piece of part.split(', '))
            expect(text.replace(/\s+/g, ' ').toUpperCase()).toContain(piece.toUpperCase())
      }),
      { seed: testSeed(), numRuns: 60 },
    )
    const startMs = performance.now()
    parseAddress('1,'.repeat(500_000), { country: 'US' })
    expect(performance.now() - startMs).toBeLessThan(1_000)
  })

  test('knows states by code and name', () => {
    expect(stateCode('washington', 'US')).toBe('WA')
    expect(stateCode('nsw', 'AU')).toBe('NSW')
    expect(stateCode('Bavaria', 'DE')).toBeUndefined()
  })
})
