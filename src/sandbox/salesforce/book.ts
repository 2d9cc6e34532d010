import { createHmac, randomUUID } from 'node:crypto'
import type { BookEntry, CrmBook, CrmContents } from '../crm/book.ts'
import type { ChangeLog } from '../crm/change-log.ts'
import { createReading } from '../crm/object-book.ts'
import { press } from '../crm/press.ts'
import type { FieldDefinition, SalesforceType } from './schema.ts'
import { readField, type FieldValue, type SalesforceRecord, type SalesforceStore } from './store.ts'

interface BookDeps {
  store: SalesforceStore
  changes: ChangeLog
  now: () => number
  /** Signs the requests of buttons. */
  secret: string
  paydirtUrl: () => string
}

const labels = { Account: 'Accounts', Contact: 'Contacts', Lead: 'Leads', Note: 'Notes', Task: 'Tasks' }
const hints: Record<SalesforceType, readonly string[]> = {
  Account: ['Website', 'BillingCountry', 'Industry'],
  Contact: ['Email', 'Title', 'MailingCountry'],
  Lead: ['Email', 'Company', 'Status'],
  Note: ['Body'],
  Task: ['Status', 'ActivityDate'],
}

export function createSalesforceBook({ store, changes, now, secret, paydirtUrl }: BookDeps): CrmBook {
  const { typeOf, ...reading } = createReading<SalesforceType, SalesforceRecord>({
    labels,
    store,
    entryOf,
    fieldsOf: (record) =>
      [...store.schema[record.type].fields.values()].map((definition) => ({
        name: definition.name,
        label: definition.label,
        value: textOf(readField(record, definition.name)),
        isEditable: definition.updateable && definition.type !== 'reference',
      })),
  })
  return {
    label: 'Salesforce',
    ...reading,
    changesOf: (object, id) => changes.of(object, id),
    contents: () => contentsOf(store),
    edit(object, id, field, value) {
      const type = typeOf(object)
      const definition = store.schema[type].fields.get(field.toLowerCase())
      if (!definition?.updateable) throw new Error(`${field} cannot be edited`)
      const entered = valueOf(definition, value.trim())
      changes.as('a person, on this page', () => store.edit(type, id, { [definition.name]: entered }))
    },
    recordAt(path) {
      const [, type, id] = /^\/lightning\/r\/(\w+)\/([A-Za-z0-9]{15,18})\/view$/.exec(path) ?? []
      return type !== undefined && id !== undefined && Object.hasOwn(labels, type)
        ? { object: type, id }
        : undefined
    },
    press(object, id) {
      const path = '/hooks/salesforce'
      const body = JSON.stringify({ action: 'enrich', object, recordId: id })
      const seconds = String(Math.floor(now() / 1000))
      const nonce = randomUUID()
      const signed = `${seconds}.${nonce}.POST.${path}.${body}`
      return press(
        `${paydirtUrl()}${path}`,
        {
          'x-paydirt-timestamp': seconds,
          'x-paydirt-nonce': nonce,
          'x-paydirt-signature': `v1=${createHmac('sha256', secret).update(signed).digest('hex')}`,
        },
        body,
      )
    },
  }
}

function entryOf(record: SalesforceRecord): BookEntry {
  return {
    id: record.id,
    title: textOf(readField(record, 'Name')),
    hints: hints[record.type].map((name) => textOf(readField(record, name))).filter((text) => text !== ''),
    modifiedAtMs: record.modifiedAtMs,
    isGone: record.deletedAtMs !== undefined,
  }
}

/** Returns a text as the browser's form for this field would store it. Throws where the form would refuse it. */
function valueOf(
  { type, label, nillable, length, picklist, isRestricted }: FieldDefinition,
  text: string,
): FieldValue {
  if (text === '') {
    if (nillable) return null
    throw new Error(`${label} is required`)
  }
  if (type === 'boolean') return text === 'true'
  if (type === 'int' || type === 'double' || type === 'currency') {
    if (Number.isFinite(Number(text))) return Number(text)
    throw new Error(`${label} must be a number`)
  }
  if (length > 0 && text.length > length) throw new Error(`${label} has at most ${length} characters`)
  if (isRestricted && picklist.length > 0 && !picklist.includes(text))
    throw new Error(`${label} is one of ${picklist.join(', ')}`)
  return text
}

function textOf(value: FieldValue): string {
  return value === null ? '' : String(value)
}

function contentsOf(store: SalesforceStore): CrmContents {
  const records: CrmContents['records'] = {}
  for (const type of Object.keys(labels) as SalesforceType[])
    records[type] = Object.fromEntries(
      [...store.list(type)]
        .filter(({ deletedAtMs }) => deletedAtMs === undefined)
        .map(({ id, fields }) => [id, filled(fields)]),
    )
  return { owners: [...store.users].flatMap(([id, isActive]) => (isActive ? [id] : [])), records }
}

function filled(fields: Readonly<Record<string, FieldValue>>): Record<string, string> {
  const texts = Object.entries(fields).map(([name, value]) => [name, textOf(value)] as const)
  return Object.fromEntries(texts.filter(([, text]) => text !== ''))
}
