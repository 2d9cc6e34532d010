import { expect, test } from 'vitest'
import type { LookupKey } from '../../domain/keys.ts'
import { sourceOf } from './field-source.ts'

const steps = [
  'contact.lookup|email:ann@acme.example',
  'person.profile|profnet.com/in/ann',
  'company.profile|profnet.com/company/acme',
  'company.logo|acme.example',
  'contact.redeem|profnet.com/in/ann|email-work',
  'contact.redeem|profnet.com/in/ann|phone',
] as LookupKey[]

test.each([
  ['full_name', steps[1]],
  ['company_domain', steps[2]],
  ['company_logo', steps[3]],
  ['email', steps[4]],
  ['mobile_phone', steps[5]],
])('the source of %s is the last lookup that can tell it', (field, key) => {
  expect(sourceOf(field, 'person', steps)).toBe(key)
})

test('an address that the match itself revealed comes from the match', () => {
  expect(sourceOf('email', 'person', steps.slice(0, 2))).toBe(steps[0])
})

test('a lookup of a forgotten subject tells no field, and a field without a source has the last lookup', () => {
  const forgotten = 'contact.redeem|forgotten:1' as LookupKey
  expect(sourceOf('email', 'person', [steps[0]!, forgotten])).toBe(steps[0])
  expect(sourceOf('email', 'person', [forgotten])).toBe(forgotten)
  expect(sourceOf('email', 'person', [])).toBeNull()
})
