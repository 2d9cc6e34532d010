import { expect, test } from 'vitest'
import { identityOfValues } from './identity.ts'

test.each([
  [
    'company',
    { profnet_url: 'u', domain: 'd', website: 'w', company_name: 'c' },
    { profileUrl: 'u', domain: 'd', company: 'c' },
  ],
  ['company', { website: 'w', email: 'e', phone: 'p' }, { domain: 'w' }],
  [
    'person',
    { full_name: ' Jane van  Doe ', email: 'e' },
    { firstName: 'Jane', lastName: 'van Doe', email: 'e' },
  ],
  ['person', { full_name: 'Jane', mobile_phone: 'p', email_personal: 'm' }, { phone: 'p', email: 'm' }],
  ['person', {}, {}],
] as const)('a %s with %o is identified by %o', (object, values, identity) => {
  expect(identityOfValues(object, values)).toStrictEqual(identity)
})
