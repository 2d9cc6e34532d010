import { describe, expect, test } from 'vitest'
import { fieldNames } from '../domain/fields.ts'
import { propertiesOf, unknownFields } from '../domain/mapping/mapping.ts'
import { objectKinds } from '../domain/words.ts'
import {
  connectorNames,
  connectorVariables,
  connectorsWithout,
  crmNames,
  crmOf,
  definitionOf,
  isCrmName,
  readConnectors,
  variablesNeededBy,
} from './definitions.ts'

describe('the registry', () => {
  test('lists every connector, and which of them are CRMs', () => {
    expect(connectorNames).toEqual(expect.arrayContaining(['csv', 'hubspot', 'salesforce']))
    expect(crmNames).toEqual(connectorNames.filter(isCrmName))
    expect(isCrmName('csv')).toBe(false)
    expect(isCrmName('toString')).toBe(false)
  })

  test('refuses an unknown name and lists the known ones', () => {
    for (const name of ['abacus', 'toString', '']) {
      expect(() => definitionOf(name)).toThrow(
        `there is no connector ${name}; there are ${connectorNames.join(', ')}`,
      )
      expect(() => crmOf(name)).toThrow(`there is no CRM ${name}; there are ${crmNames.join(', ')}`)
    }
    expect(() => crmOf('csv')).toThrow('there is no CRM csv')
  })

  test('finds connectors by what they cannot do', () => {
    expect(connectorsWithout('runsInBackground')).toContain('csv')
    expect(connectorsWithout('runsInBackground')).not.toContain('hubspot')
  })

  test('leaves CRMs without credentials out', () => {
    expect(Object.values(readConnectors({})).filter((settings) => settings !== undefined)).toEqual([])
  })

  test('gives each environment variable to one connector', () => {
    const variables = crmNames.flatMap((name) => Object.keys(crmOf(name).variables))
    expect(variables).toHaveLength(new Set(variables).size)
    expect(Object.keys(connectorVariables).sort()).toEqual(variables.sort())
  })
})

describe.each(connectorNames)('the definition of %s', (name) => {
  const definition = definitionOf(name)

  test('names itself, its entities and their objects', () => {
    expect(definition.label).toMatch(/\S/)
    expect(Object.keys(definition.entities)).not.toEqual([])
    for (const object of Object.values(definition.entities)) expect(objectKinds).toContain(object)
  })

  test('has a canonical form of every id that is its own canonical form', () => {
    for (const id of ['1', '0012500001Aq1Zz', 'not an id'])
      expect(definition.canonicalId(definition.canonicalId(id))).toBe(definition.canonicalId(id))
  })
})

describe.each(crmNames)('the definition of %s', (name) => {
  const crm = crmOf(name)

  test.each(Object.entries(crm.mapping.entities))(
    'maps fields of %s that exist, and can tell who a record is',
    (entity, mapping) => {
      expect(unknownFields(mapping)).toEqual([])
      expect(mapping.identity.profileUrl).toBeDefined()
      expect(propertiesOf(mapping)).toHaveLength(new Set(propertiesOf(mapping)).size)
      expect(crm.entities[entity]).toBe(mapping.object)
      expect(fieldNames(mapping.object)).toEqual(expect.arrayContaining(Object.keys(mapping.fields)))
    },
  )

  test('says what must be set, and reads the variables that it names', () => {
    expect(crm.needs.length).toBeGreaterThan(0)
    expect(Object.keys(crm.variables)).toEqual(expect.arrayContaining([...crm.needs]))
    expect(variablesNeededBy(name)).toContain(crm.needs.at(-1))
  })

  test('needs no part of the config file', () => {
    expect(crm.file.safeParse({}).success).toBe(true)
    expect(crm.file.safeParse({ noSuchSetting: 1 }).success).toBe(false)
  })
})

describe('the address of a record', () => {
  test('in HubSpot needs the account', () => {
    const hubspot = crmOf('hubspot')
    const place = { entity: 'companies', id: '77' }
    expect(hubspot.recordUrl({}, { ...place, accountId: undefined })).toBeUndefined()
    expect(hubspot.recordUrl({}, { ...place, accountId: '123' })).toBe(
      'https://app.hubspot.com/contacts/123/record/0-2/77',
    )
    const standIn = { baseUrl: 'http://127.0.0.1:8403/', mapping: undefined }
    expect(hubspot.recordUrl(standIn, { ...place, accountId: '123' })).toBe(
      'http://127.0.0.1:8403/contacts/123/record/0-2/77',
    )
  })

  test('in Salesforce is below the org', () => {
    const settings = { loginUrl: 'https://example.my.salesforce.com/', mapping: undefined }
    const place = { accountId: undefined, entity: 'Lead', id: '00Q000000000001AAA' }
    expect(crmOf('salesforce').recordUrl(settings, place)).toBe(
      'https://example.my.salesforce.com/lightning/r/Lead/00Q000000000001AAA/view',
    )
  })
})
