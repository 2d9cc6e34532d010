import { describe, expect, test } from 'vitest'
import { missingScopes } from './scopes.ts'

const anyOf = 'One or more of the following scopes are required.'
const contactWrites = [
  'crm.objects.companies.write',
  'crm.objects.contacts.highly_sensitive.write.v2',
  'crm.objects.contacts.read',
  'crm.objects.contacts.sensitive.write.v2',
  'crm.objects.contacts.write',
]

describe('the scopes that a refusal asks for', () => {
  test('of a list of which any is enough, only the least is asked for', () => {
    const errors = [{ message: anyOf, context: { requiredGranularScopes: contactWrites } }]
    expect(missingScopes(errors, { path: '/crm/objects/2026-09/contacts/batch/update' })).toEqual({
      chosen: ['crm.objects.contacts.write'],
      others: contactWrites.slice(0, 4),
    })
  })

  test('to read properties, the right to read properties is enough', () => {
    const scopes = ['crm.objects.contacts.read', 'crm.objects.contacts.write', 'crm.schemas.contacts.read']
    const errors = [{ message: anyOf, context: { requiredGranularScopes: scopes } }]
    const { chosen } = missingScopes(errors, { path: '/crm/properties/2026-09/contacts' })
    expect(chosen).toEqual(['crm.schemas.contacts.read'])
  })

  test('of several lists each is required', () => {
    const errors = ['companies', 'contacts'].map((type) => ({
      message: anyOf,
      context: {
        requiredGranularScopes: [`crm.objects.${type}.highly_sensitive.read.v2`, `crm.objects.${type}.read`],
      },
    }))
    const { chosen } = missingScopes(errors, {
      path: '/crm/associations/2026-09/contacts/companies/batch/read',
    })
    expect(chosen).toEqual(['crm.objects.companies.read', 'crm.objects.contacts.read'])
  })

  test('a list of which all are required is asked for as a whole', () => {
    const errors = [
      { message: 'All of the following scopes are required.', context: { scopes: ['automation', 'oauth'] } },
    ]
    expect(missingScopes(errors, { path: '/x' })).toEqual({ chosen: ['automation', 'oauth'], others: [] })
  })
})
