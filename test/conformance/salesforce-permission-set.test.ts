import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { salesforceMapping } from '../../src/connectors/salesforce/mapping.ts'
import { creating } from '../../src/domain/mapping/creating.ts'
import { propertiesOf } from '../../src/domain/mapping/mapping.ts'
import { describeField } from '../../src/sandbox/salesforce/schema.ts'
import { openSalesforceBench, type SalesforceBench } from '../integration/salesforce.fixture.ts'

const entities = ['Account', 'Contact', 'Lead'] as const
/** Most orgs do not have it, and a permission set that names it could not be deployed there. */
const notGranted = ['Account.YearStarted']

const folder = '../../crm/salesforce/force-app/main/default/permissionsets'
const read = (name: string) =>
  readFileSync(join(import.meta.dirname, folder, `${name}.permissionset-meta.xml`), 'utf8')
const xml = read('Paydirt_Integration')
const blocks = (name: string, text = xml) =>
  [...text.matchAll(new RegExp(`<${name}>([\\s\\S]*?)</${name}>`, 'g'))].map(([, block = '']) =>
    Object.fromEntries([...block.matchAll(/<(\w+)>([^<]*)</g)].map(([, key, value]) => [key!, value!])),
  )
const fields = new Map(blocks('fieldPermissions').map((each) => [each['field']!, each]))
const objects = new Map(blocks('objectPermissions').map((each) => [each['object']!, each]))

interface Described {
  name: string
  compoundFieldName: string | null
  permissionable: boolean
}

let bench: SalesforceBench
beforeAll(async () => {
  bench = await openSalesforceBench({ accounts: 3, contacts: 3, leads: 3, dataCom: true })
})
afterAll(() => bench.stop())

function described(entity: (typeof entities)[number]): Described[] {
  return [...bench.org.store.schema[entity].fields.values()].map((each) => describeField(each) as Described)
}

/** The name under which field-level security knows a field, or undefined for one that everybody may see. */
function granted(entity: (typeof entities)[number], { name, compoundFieldName, permissionable }: Described) {
  return permissionable ? `${entity}.${compoundFieldName ?? name}` : undefined
}

describe('the permission set of the integration user', () => {
  test.each(entities)('covers what the default mapping reads and writes of %s', (entity) => {
    const byName = new Map(described(entity).map((each) => [each.name, each]))
    const mapping = salesforceMapping.entities[entity]!
    const written = new Set(Object.values(mapping.fields).map(({ property }) => property))
    const missing = propertiesOf(mapping).flatMap((property) => {
      const own = property.split('.').length === 1
      const target = own ? byName.get(property) : byName.get('AccountId')
      // A field that orgs may lack is in the variant of the org that has it.
      if (!target) return [`${entity}.${property} is not in the stand-in`]
      const name = granted(entity, target)
      if (name === undefined || notGranted.includes(name)) return []
      const permission = fields.get(name)
      if (permission?.['readable'] !== 'true') return [`${name}: not readable`]
      return written.has(property) && permission['editable'] !== 'true' ? [`${name}: not editable`] : []
    })
    expect(missing).toEqual([])
  })

  test.each(entities)('covers our own fields of %s, for a user who has nothing else', (entity) => {
    for (const property of Object.values(salesforceMapping.own))
      expect(fields.get(`${entity}.${property}`)).toMatchObject({ readable: 'true', editable: 'true' })
  })

  test.each(entities)('asks for every record of %s, and neither creates nor deletes', (entity) => {
    expect(objects.get(entity)).toEqual({
      object: entity,
      allowRead: 'true',
      allowEdit: 'true',
      viewAllRecords: 'true',
      allowCreate: 'false',
      allowDelete: 'false',
      modifyAllRecords: 'false',
    })
  })

  test.each(entities)('with that for lists, makes and deletes %s, each once by its key', (entity) => {
    const lists = read('Paydirt_Lists')
    const allowed = blocks('objectPermissions', lists).find(({ object }) => object === entity)
    expect(allowed).toMatchObject({ allowCreate: 'true', allowDelete: 'true', modifyAllRecords: 'false' })
    const added = blocks('fieldPermissions', lists).filter(({ editable }) => editable === 'true')
    const editable = new Set([...fields.values(), ...added].map(({ field }) => field))
    const made = Object.values(creating(salesforceMapping.entities[entity]!).fields)
    const properties = [salesforceMapping.key!, ...made.map(({ property }) => property)]
    const missing = described(entity).flatMap((each) => {
      const name = properties.includes(each.name) ? granted(entity, each) : undefined
      return name === undefined || editable.has(name) || notGranted.includes(name) ? [] : [name]
    })
    expect(missing).toEqual([])
    expect(fields.has(`${entity}.${salesforceMapping.key}`)).toBe(false)
  })

  test('names only fields that field-level security knows', () => {
    const known = entities.flatMap((entity) =>
      described(entity).flatMap((each) => granted(entity, each) ?? []),
    )
    expect([...fields.keys()].filter((name) => !known.includes(name))).toEqual([])
  })

  test('is enough: with it alone the check finds nothing but what the org lacks', async () => {
    for (const entity of entities)
      for (const each of described(entity)) {
        const name = granted(entity, each)
        if (name !== undefined && !fields.has(name))
          bench.org.store.schema[entity].fields.delete(each.name.toLowerCase())
      }
    const { problems } = await bench.connect().check()
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^Account: YearStarted: not in this org/),
    ])
  })
})
