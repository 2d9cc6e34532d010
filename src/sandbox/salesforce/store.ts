// One file because adding, editing, merging and converting records share the tables and what keeps persons in step.
import { API_USER_ID, makeId, toLongId } from './ids.ts'
import { createAccess, type OrgAccess } from './access.ts'
import { knownPlaces, settlePlaces } from './places/countries.ts'
import { tie, type TiedRecords } from './making/tied.ts'
import {
  createSchema,
  personFieldName,
  placePrefixes,
  type FieldDefinition,
  type ObjectDefinition,
  type OrgFeatures,
  type SalesforceType,
} from './schema.ts'

export type FieldValue = string | number | boolean | null

export interface SalesforceRecord {
  readonly id: string
  readonly type: SalesforceType
  /** Stored fields by their exact name. An absent field is null. */
  fields: Record<string, FieldValue>
  readonly createdAtMs: number
  modifiedAtMs: number
  modifiedById: string
  /** In whole seconds, as the org stores it. Records of one transaction share it. */
  modstampMs: number
  deletedAtMs: number | undefined
  masterRecordId: string | null
}

interface NewSalesforceRecord {
  readonly fields: Readonly<Record<string, FieldValue>>
  readonly createdAtMs?: number
  readonly modstampMs?: number
  /** Default: a person. */
  readonly byUserId?: string
}

/** The org's data: the API reads and writes it, and tests change it directly. */
export interface SalesforceStore {
  readonly schema: Record<SalesforceType, ObjectDefinition>
  readonly apiUserId: string
  readonly access: OrgAccess
  /** The users by id, and whether they are active. */
  readonly users: Map<string, boolean>
  readonly tied: TiedRecords
  /** Values outside the list that unrestricted picklists have taken, as `Account.Industry: Rope making`. */
  readonly inactiveValues: Set<string>
  add(type: SalesforceType, record: NewSalesforceRecord): SalesforceRecord
  /** Adds a person account: fields of a contact. Returns the account; its `PersonContactId` is the contact. */
  addPerson(fields: Readonly<Record<string, FieldValue>>): SalesforceRecord
  /** Returns a record by its 15- or 18-character id; deleted ones too. */
  get(type: SalesforceType, id: string): SalesforceRecord | undefined
  list(type: SalesforceType): Iterable<SalesforceRecord>
  count(type: SalesforceType): number
  /** Edits as a person in the browser does: no validation, and new stamps. Null clears. */
  edit(
    type: SalesforceType,
    id: string,
    values: Readonly<Record<string, FieldValue>>,
    byUserId?: string,
  ): void
  /** Moves the record to the recycle bin. */
  delete(type: SalesforceType, id: string): void
  /** Returns whether the record was deleted so long ago that it has left the recycle bin: no query finds it any more. */
  isPurged(record: SalesforceRecord): boolean
  /** Takes a record out for good, as a transaction does that is rolled back. */
  purge(type: SalesforceType, id: string): void
  /** A person adds a task, a case or the like, by the name of its relationship (`Tasks`). Returns its id. */
  tie(relationship: string, parentId: string): string
  /**
   * Merges two records: the loser goes to the recycle bin and names its master, and blanks of the winner are filled
   * from it.
   */
  merge(type: SalesforceType, winnerId: string, loserId: string): void
  /** Converts a lead to an account and a contact. The lead stays and can no longer be written. */
  convert(leadId: string): { readonly accountId: string; readonly contactId: string }
  /** Sets SystemModstamp alone, as the platform's own jobs do. Truncated to whole seconds. */
  stamp(type: SalesforceType, id: string, modstampMs: number): void
  /** Adds or replaces a field definition. */
  defineField(type: SalesforceType, definition: FieldDefinition): void
  emailCount(type: SalesforceType, email: string, exceptId: string): number
  /** Returns everything that the org holds, as it is kept from one start to the next. */
  state(): Record<string, unknown>
}

const PERSON_USER_ID = toLongId('005Wx0000000P2T')
/** The user has left the company. */
export const FORMER_USER_ID = toLongId('005Wx0000000F3T')
/** The recycle bin keeps a record for 15 days (Salesforce Help, "Recycle Bin"). */
const binMs = 15 * 86_400_000

type OnEdit = (
  type: SalesforceType,
  id: string,
  before: SalesforceRecord['fields'],
  after: SalesforceRecord['fields'],
) => void

export function createSalesforceStore(
  now: () => number,
  features: OrgFeatures = {},
  onEdit?: OnEdit,
): SalesforceStore {
  const schema = createSchema(features)
  const tables: Record<SalesforceType, Map<string, SalesforceRecord>> = {
    Account: new Map(),
    Contact: new Map(),
    Lead: new Map(),
    Note: new Map(),
    Task: new Map(),
  }
  const counters: Record<SalesforceType, number> = { Account: 0, Contact: 0, Lead: 0, Note: 0, Task: 0 }
  const must = (type: SalesforceType, id: string): SalesforceRecord => {
    const record = store.get(type, id)
    if (!record) throw new Error(`no ${type} record ${id}`)
    return record
  }

  const hasPlaces = (type: SalesforceType): boolean =>
    schema[type].fields.has(`${placePrefixes[type]}CountryCode`.toLowerCase())
  const asKept = (type: SalesforceType, fields: Readonly<Record<string, FieldValue>>) =>
    hasPlaces(type) ? (knownPlaces(placePrefixes[type], fields) as Record<string, FieldValue>) : fields

  /** Account and contact of a person have the same values, and the same stamps. */
  const settlePerson = (record: SalesforceRecord, values: Readonly<Record<string, FieldValue>>): void => {
    const otherId = record.type === 'Account' ? record.fields['PersonContactId'] : record.fields['AccountId']
    const other = must(record.type === 'Account' ? 'Contact' : 'Account', String(otherId))
    const [contact, account] = record.type === 'Contact' ? [record, other] : [other, record]
    if (record === account)
      for (const definition of schema.Contact.fields.values()) {
        const name = personFieldName(definition.name)
        if (name === undefined || !(name in values)) continue
        const value = account.fields[name]
        if (value === undefined) delete contact.fields[definition.name]
        else contact.fields[definition.name] = value
      }
    mirror(contact, account)
    const { modifiedAtMs, modstampMs, modifiedById } = record
    Object.assign(other, { modifiedAtMs, modstampMs, modifiedById })
  }
  const mirror = (contact: SalesforceRecord, account: SalesforceRecord): void => {
    for (const definition of schema.Contact.fields.values()) {
      const name = personFieldName(definition.name)
      const value = contact.fields[definition.name]
      if (name === undefined) continue
      if (value === undefined) delete account.fields[name]
      else account.fields[name] = value
    }
    account.fields['Name'] = [contact.fields['FirstName'], contact.fields['LastName']]
      .filter(Boolean)
      .join(' ')
  }

  const store: SalesforceStore = {
    schema,
    apiUserId: API_USER_ID,
    access: createAccess(),
    users: new Map([
      [API_USER_ID, true],
      [PERSON_USER_ID, true],
      [FORMER_USER_ID, false],
    ]),
    tied: new Map(),
    inactiveValues: new Set(),
    add(type, given) {
      counters[type] = Math.max(counters[type], tables[type].size) + 1
      const id = makeId(schema[type].keyPrefix, counters[type])
      const byUserId = given.byUserId ?? PERSON_USER_ID
      const stampMs = wholeSeconds(given.modstampMs ?? now())
      const record: SalesforceRecord = {
        id,
        type,
        fields: { OwnerId: PERSON_USER_ID, ...asKept(type, given.fields) },
        createdAtMs: wholeSeconds(given.createdAtMs ?? stampMs),
        modifiedAtMs: stampMs,
        modifiedById: byUserId,
        modstampMs: stampMs,
        deletedAtMs: undefined,
        masterRecordId: null,
      }
      tables[type].set(id, record)
      if (given.byUserId !== undefined) onEdit?.(type, id, {}, record.fields)
      return record
    },
    addPerson(fields) {
      const name = [fields['FirstName'], fields['LastName']].filter(Boolean).join(' ')
      const account = store.add('Account', { fields: { Name: name, IsPersonAccount: true } })
      const contact = store.add('Contact', {
        fields: { ...fields, AccountId: account.id, IsPersonAccount: true },
      })
      account.fields['PersonContactId'] = contact.id
      mirror(contact, account)
      return account
    },
    get: (type, id) => tables[type].get(toLongId(id)),
    list: (type) => tables[type].values(),
    count: (type) => tables[type].size,
    edit(type, id, values, byUserId = PERSON_USER_ID) {
      const record = must(type, id)
      const settled = hasPlaces(type) ? settlePlaces(placePrefixes[type], record.fields, values) : values
      if ('message' in settled) throw new Error(String(settled.message))
      const before = onEdit ? { ...record.fields } : {}
      for (const [name, value] of Object.entries(settled)) {
        if (value === null || value === '') delete record.fields[name]
        else record.fields[name] = value
      }
      record.modifiedAtMs = wholeSeconds(now())
      record.modstampMs = record.modifiedAtMs
      record.modifiedById = byUserId
      if (record.fields['IsPersonAccount'] === true) settlePerson(record, settled)
      onEdit?.(type, record.id, before, record.fields)
    },
    delete(type, id) {
      const record = must(type, id)
      record.deletedAtMs = wholeSeconds(now())
      record.modstampMs = record.deletedAtMs
    },
    isPurged: ({ deletedAtMs }) => deletedAtMs !== undefined && now() - deletedAtMs > binMs,
    purge: (type, id) => void tables[type].delete(toLongId(id)),
    tie: (relationship, parentId) => tie(store.tied, relationship, parentId),
    merge(type, winnerId, loserId) {
      const winner = must(type, winnerId)
      const loser = must(type, loserId)
      if (winner === loser) throw new Error('a record cannot be merged into itself')
      store.edit(type, winnerId, { ...loser.fields, ...winner.fields })
      store.delete(type, loserId)
      loser.masterRecordId = winner.id
      if (type !== 'Account') return
      for (const contact of tables.Contact.values())
        if (contact.fields.AccountId === loser.id) store.edit('Contact', contact.id, { AccountId: winner.id })
    },
    convert(leadId) {
      const lead = must('Lead', leadId)
      const { Company, FirstName = null, LastName = null, Email = null, Phone = null } = lead.fields
      const account = store.add('Account', { fields: { Name: Company ?? 'Unknown' } })
      const contact = store.add('Contact', {
        fields: { AccountId: account.id, FirstName, LastName, Email, Phone },
      })
      store.edit('Lead', leadId, {
        IsConverted: true,
        Status: 'Qualified',
        ConvertedDate: new Date(now()).toISOString().slice(0, 10),
        ConvertedAccountId: account.id,
        ConvertedContactId: contact.id,
      })
      return { accountId: account.id, contactId: contact.id }
    },
    stamp(type, id, modstampMs) {
      must(type, id).modstampMs = wholeSeconds(modstampMs)
    },
    defineField(type, definition) {
      schema[type].fields.set(definition.name.toLowerCase(), definition)
    },
    emailCount(type, email, exceptId) {
      const wanted = email.toLowerCase()
      let count = 0
      for (const record of tables[type].values()) {
        const value = record.fields.Email
        if (
          record.id !== exceptId &&
          !record.deletedAtMs &&
          typeof value === 'string' &&
          value.toLowerCase() === wanted
        )
          count += 1
      }
      return count
    },
    state: () => ({
      tables,
      schema,
      access: store.access,
      inactiveValues: store.inactiveValues,
      users: store.users,
      tied: store.tied,
    }),
  }
  return store
}

/** Returns one field as the API does. Empty text is null: the org stores no empty text. */
export function readField(record: SalesforceRecord, name: string): FieldValue {
  switch (name) {
    case 'Id':
      return record.id
    case 'IsDeleted':
      return record.deletedAtMs !== undefined
    case 'MasterRecordId':
      return record.masterRecordId
    case 'CreatedDate':
      return formatDateTime(record.createdAtMs)
    case 'LastModifiedDate':
      return formatDateTime(record.modifiedAtMs)
    case 'SystemModstamp':
      return formatDateTime(record.modstampMs)
    case 'CreatedById':
      return PERSON_USER_ID
    case 'LastModifiedById':
      return record.modifiedById
    case 'IsPersonAccount':
      return record.fields['IsPersonAccount'] === true
    case 'IsClosed':
      return record.type === 'Task' ? record.fields['Status'] === 'Completed' : null
    case 'IsConverted':
      return record.fields.IsConverted === true
    case 'Name':
      if (record.type === 'Account') break
      return [record.fields.FirstName, record.fields.LastName].filter(Boolean).join(' ') || null
  }
  const value = record.fields[name]
  return value === undefined || value === '' ? null : value
}

export function formatDateTime(atMs: number): string {
  return new Date(atMs).toISOString().replace('Z', '+0000')
}

function wholeSeconds(atMs: number): number {
  return Math.floor(atMs / 1000) * 1000
}
