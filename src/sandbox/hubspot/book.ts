import { createHmac } from 'node:crypto'
import type { BookEntry, CrmBook, CrmContents } from '../crm/book.ts'
import type { ChangeLog } from '../crm/change-log.ts'
import { createReading } from '../crm/object-book.ts'
import { press } from '../crm/press.ts'
import type { HubspotFaults } from './faults.ts'
import { OBJECT_TYPE_IDS, type HubspotType } from './properties.ts'
import { readProperty, type HubspotRecord, type HubspotStore } from './store.ts'
import { validateProperties } from './validate.ts'

interface BookDeps {
  store: HubspotStore
  faults: HubspotFaults
  changes: ChangeLog
  now: () => number
  clientSecret: string
  paydirtUrl: () => string
}

const labels = { companies: 'Companies', contacts: 'Contacts' }
const hints: Record<HubspotType, readonly string[]> = {
  companies: ['domain', 'country', 'industry'],
  contacts: ['email', 'jobtitle', 'company'],
}

export function createHubspotBook(deps: BookDeps): CrmBook {
  const { store, faults, changes, now, clientSecret, paydirtUrl } = deps
  const { typeOf, ...reading } = createReading<HubspotType, HubspotRecord>({
    labels,
    store,
    entryOf,
    fieldsOf: (record) =>
      [...store.registry.properties[record.type].values()].map((property) => ({
        name: property.name,
        label: property.label,
        value: readProperty(record, property.name) ?? '',
        isEditable: !property.modificationMetadata.readOnlyValue && property.type !== 'datetime',
      })),
  })
  return {
    label: 'HubSpot',
    ...reading,
    changesOf: (object, id) => changes.of(object, id),
    contents: () => contentsOf(store),
    edit(object, id, field, value) {
      const type = typeOf(object)
      const { values, invalid } = validateProperties(
        { [field]: value },
        store.registry.properties[type],
        faults,
      )
      if (invalid[0]) throw new Error(invalid[0].message)
      const owner =
        type === 'contacts' && field === 'email' ? store.emailOwner(values.get(field) ?? '') : undefined
      if (owner && owner.id !== id) throw new Error(`contact ${owner.id} has this e-mail already`)
      changes.as('a person, on this page', () => store.edit(type, id, Object.fromEntries(values)))
    },
    recordAt(path) {
      const [, typeId, id] = /^\/contacts\/\d+\/record\/([\d-]+)\/(\d+)\/?$/.exec(path) ?? []
      const object = (Object.keys(labels) as HubspotType[]).find((type) => OBJECT_TYPE_IDS[type] === typeId)
      return object && id !== undefined ? { object, id } : undefined
    },
    press(object, id) {
      const url = `${paydirtUrl()}/hooks/hubspot/card`
      const body = JSON.stringify({ action: 'enrich', objectType: object, objectId: id })
      const atMs = String(now())
      // Version 3: HMAC-SHA256 over method, URI, body and time, in base64.
      const signature = createHmac('sha256', clientSecret).update(`POST${url}${body}${atMs}`).digest('base64')
      const headers = { 'x-hubspot-signature-v3': signature, 'x-hubspot-request-timestamp': atMs }
      return press(url, headers, body)
    },
  }
}

function entryOf(record: HubspotRecord): BookEntry {
  const { id, type, properties, modifiedAtMs, archivedAtMs } = record
  const name = [properties['firstname'], properties['lastname']].filter(Boolean).join(' ')
  return {
    id,
    title: (type === 'companies' ? properties['name'] : name || properties['email']) ?? '',
    hints: hints[type].flatMap((property) => properties[property] ?? []),
    modifiedAtMs,
    isGone: archivedAtMs !== undefined,
  }
}

/** The companies of a contact, and the records of a note or task, count as values of it. */
function contentsOf(store: HubspotStore): CrmContents {
  const records: CrmContents['records'] = { companies: {}, contacts: {}, notes: {}, tasks: {} }
  for (const type of Object.keys(labels) as HubspotType[])
    for (const { id, properties, archivedAtMs } of store.list(type)) {
      if (archivedAtMs !== undefined) continue
      const companies = type === 'contacts' ? [...store.companiesOf(id).keys()].sort().join(' ') : ''
      records[type]![id] = filled({ ...properties, companies })
    }
  for (const { id, kind, properties, ties, archivedAtMs } of store.activities.all.values())
    if (archivedAtMs === undefined)
      records[kind]![id] = filled({
        ...properties,
        records: ties.map((tie) => `${tie.type} ${tie.id}`).join(' '),
      })
  const owners = [...store.owners.values()].filter(({ archived }) => !archived).map(({ id }) => id)
  return { owners, records }
}

function filled(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
}
