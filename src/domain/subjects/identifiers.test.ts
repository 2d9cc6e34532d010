import { describe, expect, test } from 'vitest'
import { identifierOf, identifiersOf, identifiersOfPatch, type IdentifierKind } from './identifiers.ts'

describe('an identifier', () => {
  test.each<[IdentifierKind, string, string]>([
    ['email', ' Ada@Acme.example ', 'ada@acme.example'],
    ['phone', '+33 6 12 34 56 78', '+33612345678'],
    ['profile_url', 'https://de.profnet.example/in/Ada/', 'profnet.com/in/ada'],
    ['profile_url', 'profnet.example/company/Acme', 'profnet.com/company/acme'],
    ['domain', 'https://www.acme.example/x', 'acme.example'],
  ])('%s %j is %s', (kind, raw, value) => {
    expect(identifierOf(kind, raw)).toEqual({ ok: true, value })
  })

  test.each<[IdentifierKind, string]>([
    ['email', 'ada'],
    ['phone', '06 12 34 56 78'],
    ['profile_url', 'ada'],
    ['domain', 'co.uk'],
  ])('%s is not %j, and the reason does not repeat it', (kind, raw) => {
    const refused = identifierOf(kind, raw)
    expect(refused).toMatchObject({ ok: false, reason: expect.stringMatching(/./) })
    expect(refused.ok === false && refused.reason).not.toContain(raw)
  })
})

const all = [
  { kind: 'email', value: 'ada@acme.example' },
  { kind: 'domain', value: 'acme.example' },
  { kind: 'phone', value: '+33612345678' },
  { kind: 'profile_url', value: 'profnet.com/in/ada' },
  { kind: 'domain', value: 'borealis.example' },
]

test('a record is identified by all that it has, and by the domain of its address', () => {
  const identity = {
    email: 'Ada@acme.example',
    phone: '+33 6 12 34 56 78',
    profileUrl: 'profnet.example/in/Ada',
    domain: 'www.borealis.example',
  }
  expect(identifiersOf(identity)).toEqual(all)
  expect(identifiersOf({ email: 'none', phone: 'none', profileUrl: 'none', domain: 'none' })).toEqual([])
  expect(identifiersOf({})).toEqual([])
})

test.each([
  ['email', 'phone'],
  ['email_personal', 'mobile_phone'],
])('a patch is identified by what it sets: %s, %s', (email, phone) => {
  const patch = {
    [email]: { set: 'Ada@acme.example' },
    [phone]: { set: '+33 6 12 34 56 78' },
    profnet_url: { set: 'profnet.example/in/Ada' },
    domain: { set: 'www.borealis.example' },
    city: { set: 'Lyon' },
  }
  expect(identifiersOfPatch(patch)).toEqual(all)
  expect(identifiersOfPatch({ [email]: { clear: true }, domain: { clear: true } })).toEqual([])
})
