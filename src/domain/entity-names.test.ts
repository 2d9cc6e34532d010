import { expect, test } from 'vitest'
import { entitiesNamed, objectNamed } from './entity-names.ts'

const hubspot = { companies: 'company', contacts: 'person' } as const
const salesforce = { Account: 'company', Contact: 'person', Lead: 'person' } as const

test.each([
  [hubspot, 'contact', ['contacts']],
  [hubspot, 'contacts', ['contacts']],
  [hubspot, 'Contacts', ['contacts']],
  [hubspot, 'person', ['contacts']],
  [hubspot, 'people', ['contacts']],
  [hubspot, 'persons', ['contacts']],
  [hubspot, 'company', ['companies']],
  [hubspot, 'COMPANIES', ['companies']],
  [salesforce, 'lead', ['Lead']],
  [salesforce, 'Leads', ['Lead']],
  [salesforce, 'contacts', ['Contact']],
  [salesforce, 'people', ['Contact', 'Lead']],
  [salesforce, 'companies', ['Account']],
  [salesforce, 'accounts', ['Account']],
  [salesforce, 'deals', []],
  [salesforce, '', []],
])('of %j, %s means %j', (entities, wanted, meant) => {
  expect(entitiesNamed(entities, wanted)).toEqual(meant)
})

test.each([
  ['company', 'company'],
  ['Companies', 'company'],
  ['people', 'person'],
  ['contacts', undefined],
  ['', undefined],
])('%j is the object %j', (text, object) => expect(objectNamed(text)).toBe(object))
