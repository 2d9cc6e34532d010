import { describe, expect, test } from 'vitest'
import type { LookupKey } from '../keys.ts'
import { identifiersOfKey, profilesIn, scrub } from './traces.ts'
import type { Identifier } from './identifiers.ts'

const ann: Identifier[] = [
  { kind: 'email', value: 'ann@acme.com' },
  { kind: 'phone', value: '+4930123456' },
  { kind: 'profile_url', value: 'profnet.com/in/ann-lee' },
]

describe('the traces of a subject', () => {
  test.each([
    ['ann@acme.com', true],
    ['mail Ann@Acme.com, please', true],
    ['joann@acme.com', false],
    ['ann@acme.com.example', false],
    ['It is ann@acme.com.', true],
    ['ann@acme.community', false],
    ['https://de.profnet.example/in/Ann-Lee?trk=1', true],
    ['https://www.profnet.com/in/ann-lee-2', false],
    ['https://www.profnet.com/in/ann', false],
    ['+49 (30) 123-456', true],
    ['+49 30 1234567', false],
    ['Ann Lee', false],
  ])('are found in %j: %s', (text, isChanged) => {
    expect(scrub({ text }, ann)).toEqual({ value: { text: isChanged ? '[erased]' : text }, isChanged })
  })

  test('take a whole element of a list with them, and leave its neighbours', () => {
    const people = [
      { name: 'Ann Lee', profnet_url: 'https://www.profnet.com/in/ann-lee' },
      { name: 'Bob', profnet_url: 'https://www.profnet.com/in/bob' },
    ]
    expect(scrub({ people, note: null, size: 3 }, ann)).toEqual({
      value: { people: [people[1]], note: null, size: 3 },
      isChanged: true,
    })
  })

  test.each([
    ['person.profile|profnet.com/in/ann-lee', [ann[2]]],
    ['contact.lookup|email:ann@acme.com', [ann[0]]],
    ['contact.lookup|phone:+4930123456', [ann[1]]],
    ['contact.redeem|profnet.com/in/ann-lee|phone', [ann[2]]],
    ['contact.lookup|name_domain:ann lee@acme.com', []],
    ['company.logo|acme.com', []],
  ])('are told from the key %s', (key, marks) => {
    expect(identifiersOfKey(key as LookupKey)).toEqual(marks)
  })

  test('are those of whom an answer is about, and not of others in its lists', () => {
    const url = 'https://www.profnet.com/in/ann-lee'
    const others = { similar_profiles: [{ profnet_url: 'https://www.profnet.com/in/bob' }] }
    expect(profilesIn({ profnet_url: url, ...others }, 'person')).toEqual([ann[2]])
    expect(profilesIn({ people: { profnet_url: url }, ...others }, 'person')).toEqual([ann[2]])
    expect(profilesIn(others, 'person')).toEqual([])
    expect(
      profilesIn({ company: { profnet_url: 'https://www.profnet.com/company/acme' } }, 'person'),
    ).toEqual([])
  })
})
