import { firstOwners, type HubspotOwner } from './making/owners.ts'
import { createActivities, type Activities } from './noting/activities.ts'
import {
  MODIFIED_PROPERTY,
  createPropertyRegistry,
  type HubspotType,
  type PropertyRegistry,
  type TiedKind,
} from './properties.ts'

export interface HubspotRecord {
  readonly id: string
  readonly type: HubspotType
  properties: Record<string, string>
  readonly createdAtMs: number
  modifiedAtMs: number
  archivedAtMs: number | undefined
  mergedIds: string[]
  /** The old values that search returns while the index lags. Ignored once `until` has passed. */
  stale:
    | {
        readonly properties: Record<string, string> | undefined
        readonly modifiedAtMs: number
        readonly until: number
      }
    | undefined
}

interface NewHubspotRecord {
  readonly id?: string
  readonly properties: Readonly<Record<string, string>>
  readonly createdAtMs?: number
  readonly modifiedAtMs?: number
  /** It is one of the changes that the stand-in's page shows. */
  readonly isNoted?: boolean
}

/** The account's data: the API reads and writes it, and tests change it directly. */
export interface HubspotStore {
  readonly registry: PropertyRegistry
  readonly activities: Activities
  /** The users to whom records can belong. */
  readonly owners: Map<string, HubspotOwner>
  add(type: HubspotType, record: NewHubspotRecord): HubspotRecord
  /** Returns the record with this id, or the one it was merged into; archived ones too. */
  get(type: HubspotType, id: string): HubspotRecord | undefined
  list(type: HubspotType): Iterable<HubspotRecord>
  count(type: HubspotType): number
  /** Edits as a person in the browser does: no validation, and a new stamp. An empty string clears. */
  edit(type: HubspotType, id: string, values: Readonly<Record<string, string>>): HubspotRecord
  archive(type: HubspotType, id: string): void
  restore(type: HubspotType, id: string): void
  /**
   * Merges two records into a new one and returns its id, as HubSpot does since 2025: from then on both old ids return
   * the new record, which has the winner's values, and the loser's where the winner has none.
   */
  merge(type: HubspotType, winnerId: string, loserId: string): string
  /** Sets the stamp without a change, as bulk imports and HubSpot's own jobs do. */
  stamp(type: HubspotType, id: string, modifiedAtMs: number): void
  emailOwner(email: string): HubspotRecord | undefined
  /** Returns the record that has this value in a property whose values must differ. */
  uniqueOwner(type: HubspotType, property: string, value: string): HubspotRecord | undefined
  associate(contactId: string, companyId: string, isPrimary?: boolean): void
  companiesOf(contactId: string): ReadonlyMap<string, { readonly isPrimary: boolean }>
  contactsOf(companyId: string): ReadonlyMap<string, { readonly isPrimary: boolean }>
  /** Ties a record to one of another kind, as a deal or a note: only its id is known here. */
  tie(type: HubspotType, id: string, kind: TiedKind, otherId: string): void
  tiedTo(type: HubspotType, id: string, kind: TiedKind): readonly string[]
  /** Returns everything that the account holds, as it is kept from one start to the next. */
  state(): Record<string, unknown>
}

type OnEdit = (
  type: HubspotType,
  id: string,
  before: HubspotRecord['properties'],
  after: HubspotRecord['properties'],
) => void

export function createHubspotStore(
  now: () => number,
  indexLagMs: () => number,
  onEdit?: OnEdit,
): HubspotStore {
  const tables: Record<HubspotType, Map<string, HubspotRecord>> = {
    companies: new Map(),
    contacts: new Map(),
  }
  const nextIds: Record<HubspotType, number> = { companies: 9_999_600, contacts: 99_800 }
  const mergedInto: Record<HubspotType, Map<string, string>> = { companies: new Map(), contacts: new Map() }
  const emails = new Map<string, string>()
  /** The ids of records by the values of unique properties, each under type, property and value. */
  const uniques = new Map<string, string>()
  const ties = new Map<string, Set<string>>()
  const companiesByContact = new Map<string, Map<string, { isPrimary: boolean }>>()
  const contactsByCompany = new Map<string, Map<string, { isPrimary: boolean }>>()
  const none: ReadonlyMap<string, { readonly isPrimary: boolean }> = new Map()

  const must = (type: HubspotType, id: string): HubspotRecord => {
    const record = store.get(type, id)
    if (!record) throw new Error(`no ${type} record ${id}`)
    return record
  }
  const rememberStale = (record: HubspotRecord, isNew = false): void => {
    const lagMs = indexLagMs()
    if (lagMs === 0) return
    const isStillStale = record.stale !== undefined && record.stale.until > now()
    record.stale = {
      properties: isNew ? undefined : isStillStale ? record.stale?.properties : { ...record.properties },
      modifiedAtMs: isStillStale && record.stale ? record.stale.modifiedAtMs : record.modifiedAtMs,
      until: now() + lagMs,
    }
  }

  const uniqueKey = (type: HubspotType, name: string, value: string): string => `${type} ${name} ${value}`
  /** Enters the unique values of a record, or takes them out. */
  const indexUniques = ({ type, id, properties }: HubspotRecord, isThere: boolean): void => {
    for (const [name, value] of Object.entries(properties)) {
      if (!store.registry.properties[type].get(name)?.hasUniqueValue) continue
      if (isThere) uniques.set(uniqueKey(type, name, value), id)
      else uniques.delete(uniqueKey(type, name, value))
    }
  }

  const store: HubspotStore = {
    registry: createPropertyRegistry(),
    owners: firstOwners(),
    activities: createActivities(
      now,
      (type, id) => {
        const record = store.get(type, id)
        if (!record) return
        rememberStale(record)
        record.modifiedAtMs = now()
      },
      (type, id) => store.get(type, id)?.id,
    ),
    add(type, given) {
      const id = given.id ?? String(nextIds[type])
      if (Number(id) < nextIds[type]) throw new Error(`ids of ${type} go on from ${nextIds[type]}, not ${id}`)
      // Ids grow with gaps and cross a power of ten, so that sorting them as text fails.
      nextIds[type] = Math.max(nextIds[type], Number(id)) + 1 + (Number(id) % 3)
      const createdAtMs = given.createdAtMs ?? now()
      const record: HubspotRecord = {
        id,
        type,
        properties: { ...given.properties },
        createdAtMs,
        modifiedAtMs: given.modifiedAtMs ?? createdAtMs,
        archivedAtMs: undefined,
        mergedIds: [],
        stale: undefined,
      }
      tables[type].set(id, record)
      if (type === 'contacts' && given.properties.email) emails.set(given.properties.email, id)
      indexUniques(record, true)
      rememberStale(record, true)
      if (given.isNoted) onEdit?.(type, id, {}, record.properties)
      return record
    },
    get(type, id) {
      return tables[type].get(mergedInto[type].get(id) ?? id)
    },
    list: (type) => tables[type].values(),
    count: (type) => tables[type].size,
    edit(type, id, values) {
      const record = must(type, id)
      rememberStale(record)
      const before = onEdit ? { ...record.properties } : {}
      indexUniques(record, false)
      for (const [name, value] of Object.entries(values)) {
        if (type === 'contacts' && name === 'email') {
          if (record.properties.email) emails.delete(record.properties.email)
          if (value !== '') emails.set(value, record.id)
        }
        if (value === '') delete record.properties[name]
        else record.properties[name] = value
      }
      indexUniques(record, true)
      record.modifiedAtMs = now()
      onEdit?.(type, record.id, before, record.properties)
      return record
    },
    archive(type, id) {
      const record = must(type, id)
      rememberStale(record)
      record.archivedAtMs = now()
      if (record.properties.email) emails.delete(record.properties.email)
      indexUniques(record, false)
    },
    restore(type, id) {
      const record = must(type, id)
      record.archivedAtMs = undefined
      record.modifiedAtMs = now()
      indexUniques(record, true)
      if (type === 'contacts' && record.properties.email) emails.set(record.properties.email, record.id)
    },
    merge(type, winnerId, loserId) {
      const winner = must(type, winnerId)
      const loser = must(type, loserId)
      if (winner === loser) throw new Error('a record cannot be merged into itself')
      const { email: _, ...values } = { ...loser.properties, ...winner.properties }
      const merged = store.add(type, { properties: values, createdAtMs: winner.createdAtMs })
      merged.modifiedAtMs = now()
      // Only these two: nothing says that the ids of earlier merges are repeated.
      merged.mergedIds.push(winner.id, loser.id)
      for (const { id } of [winner, loser]) tables[type].delete(id)
      for (const [id, into] of mergedInto[type])
        if (into === winner.id || into === loser.id) mergedInto[type].set(id, merged.id)
      for (const { id } of [winner, loser]) mergedInto[type].set(id, merged.id)
      const email = winner.properties.email ?? loser.properties.email
      if (type === 'contacts' && email !== undefined) merged.properties.email = email
      for (const { id, properties } of [loser, winner]) {
        if (type !== 'contacts') continue
        if (properties.email) emails.set(properties.email, merged.id)
        for (const [companyId, { isPrimary }] of companiesByContact.get(id) ?? [])
          store.associate(merged.id, companyId, isPrimary && id === winner.id)
      }
      if (type === 'companies')
        for (const { id } of [winner, loser])
          for (const contactId of contactsByCompany.get(id)?.keys() ?? [])
            store.associate(contactId, merged.id)
      return merged.id
    },
    stamp(type, id, modifiedAtMs) {
      must(type, id).modifiedAtMs = modifiedAtMs
    },
    emailOwner(email) {
      const id = emails.get(email)
      return id === undefined ? undefined : store.get('contacts', id)
    },
    uniqueOwner(type, property, value) {
      const id = uniques.get(uniqueKey(type, property, value))
      return id === undefined ? undefined : store.get(type, id)
    },
    tie(type, id, kind, otherId) {
      const key = `${type} ${must(type, id).id} ${kind}`
      ties.set(key, (ties.get(key) ?? new Set()).add(otherId))
    },
    tiedTo: (type, id, kind) => [
      ...(ties.get(`${type} ${id} ${kind}`) ?? []),
      ...(kind === 'notes' || kind === 'tasks' ? store.activities.of(type, id, kind) : []),
    ],
    associate(contactId, companyId, isPrimary) {
      const companies = companiesByContact.get(contactId) ?? new Map<string, { isPrimary: boolean }>()
      const link = { isPrimary: isPrimary ?? companies.size === 0 }
      companies.set(companyId, companies.get(companyId) ?? link)
      companiesByContact.set(contactId, companies)
      const contacts = contactsByCompany.get(companyId) ?? new Map<string, { isPrimary: boolean }>()
      contacts.set(contactId, contacts.get(contactId) ?? link)
      contactsByCompany.set(companyId, contacts)
    },
    companiesOf: (contactId) => companiesByContact.get(contactId) ?? none,
    contactsOf: (companyId) => contactsByCompany.get(companyId) ?? none,
    state: () => ({
      tables,
      nextIds,
      mergedInto,
      emails,
      uniques,
      ties,
      activities: store.activities.all,
      companiesByContact,
      contactsByCompany,
      registry: store.registry,
    }),
  }
  return store
}

/** Returns one property as the API does: always a string, or null for a blank. */
export function readProperty(record: HubspotRecord, name: string): string | null {
  switch (name) {
    case 'hs_object_id':
      return record.id
    case 'createdate':
      return new Date(record.createdAtMs).toISOString()
    case 'hs_merged_object_ids':
      return record.mergedIds.length > 0 ? record.mergedIds.join(';') : null
    case MODIFIED_PROPERTY[record.type]:
      return new Date(record.modifiedAtMs).toISOString()
    default:
      return record.properties[name] ?? null
  }
}
