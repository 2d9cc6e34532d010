import { describe, expect, test } from 'vitest'
import { creating } from './creating.ts'
import { asDefaults, checkMapping, type EntityMapping } from './mapping.ts'
import { mappingSchema, resolveMapping } from './schema.ts'

const contacts = {
  object: 'person',
  fields: { job_title: { property: 'jobtitle' }, company_name: { property: 'company' } },
  identity: {
    profileUrl: ['profnet_url'],
    email: ['email', 'work_email'],
    phone: ['phone'],
    firstName: ['firstname'],
  },
} satisfies EntityMapping

describe('the mapping of records that we make', () => {
  const base = asDefaults({
    own: { status: 'paydirt_status', enrichedAt: 'paydirt_enriched_at', source: 'paydirt_source' },
    key: 'paydirt_key',
    entities: {
      contacts: {
        ...contacts,
        create: { last_name: { property: 'lastname' }, email: { property: 'email' } },
      },
    },
  })
  const placesOf = (changes: unknown): Record<string, string> => {
    const { entities } = resolveMapping(base, mappingSchema.parse({ contacts: changes }))
    const { fields } = creating(entities['contacts'] as EntityMapping)
    return Object.fromEntries(Object.entries(fields).map(([name, { property }]) => [name, property]))
  }

  test('has a place for fields that are never written into a record that exists', () => {
    const places = { job_title: 'jobtitle', company_name: 'company', last_name: 'lastname', email: 'email' }
    expect(placesOf({})).toEqual(places)
    expect(placesOf({ fields: { email: false, job_title: false } })).toEqual({
      company_name: 'company',
      last_name: 'lastname',
      email: 'email',
    })
    expect(placesOf({ create: { email: 'work_email', last_name: false } })).toEqual({
      job_title: 'jobtitle',
      company_name: 'company',
      email: 'work_email',
    })
    expect(resolveMapping(base, {}).key).toBe('paydirt_key')
  })

  test('may lack a property of the default mapping, and none that the config file names', () => {
    const problems = (changes: unknown): unknown[] => {
      const { entities } = resolveMapping(base, mappingSchema.parse({ contacts: changes }))
      const known = ['jobtitle', 'company', ...contacts.identity.phone, ...contacts.identity.email]
      const fields = ['profnet_url', 'firstname', ...known].map((name) => ({
        name,
        label: name,
        type: 'text' as const,
        writable: true,
        custom: false,
      }))
      return checkMapping(entities['contacts'] as EntityMapping, fields)
        .filter(({ at }) => at.startsWith('create.'))
        .map(({ at, optional }) => [at, optional])
    }
    expect(problems({})).toEqual([['create.last_name', true]])
    expect(problems({ create: { last_name: 'surname' } })).toEqual([['create.last_name', false]])
  })
})
