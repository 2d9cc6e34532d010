import type { LookupKey } from '../keys.ts'
import type { FieldValue, Identity } from '../record.ts'
import { recordIdentities, type IdentityOptions, type RecordIdentity } from '../subjects/record-identities.ts'
import { identifiersOf, type Identifier } from '../subjects/identifiers.ts'
import type { ObjectKind, Operation } from '../words.ts'
import type { MatchedRecord } from './matched-record.ts'
import type { FoundAt } from './list-parts.ts'

/** One row of a search, as far as it names a company or a person. */
export interface ListRow {
  object: ObjectKind
  /** The page on which it stands, from 1. */
  page: number
  /** The service's own id. Null: the row has none, so that it cannot be told from others. */
  serviceId: string | null
  identity: Identity
  /** By canonical field, as a CSV of ours names its columns. */
  values: Readonly<Record<string, FieldValue>>
  identities: readonly RecordIdentity[]
  /** Records of the same person that are no reason against another one: those at the employers of before. */
  besides?: readonly MatchedRecord[] | undefined
}

/** A row as a fetch of the list keeps it. */
export interface StoredRow extends ListRow {
  /** Its place in the fetch, from 1. There are gaps. */
  ordinal: number
  /** The part that brought it first, from 0. */
  part: number
  /** The lookup that bought its page. */
  lookupKey: LookupKey
  /** The first place of it in each part. */
  found: readonly FoundAt[]
  /** The company of a list's search at which this person was found, with its key in that search. */
  company?: CompanyOfRow | undefined
}

export type CompanyOfRow = Pick<StoredRow, 'identity' | 'identities' | 'values' | 'serviceId'> & {
  key: string
}

/** The names in a row of the service, by canonical field, the first that is filled. */
const names: Record<ObjectKind, Readonly<Record<string, readonly string[]>>> = {
  company: {
    company_name: ['company_name', 'name'],
    profnet_url: ['profnet_url'],
    domain: ['domain', 'unique_domain', 'company_domain'],
    industry: ['industry'],
    country_code: ['country_code'],
  },
  person: {
    full_name: ['name'],
    first_name: ['first_name'],
    last_name: ['last_name'],
    job_title: ['title'],
    profnet_url: ['profnet_url'],
    company_name: ['company_name'],
    company_domain: ['domain', 'company_domain'],
    country_code: ['country_code'],
  },
}

/** Returns the key of a row's id. A market entry is a row for its company, so that one with several entries is one row. */
export function rowIdName(operation: Operation, idName = 'id'): string {
  return operation.startsWith('expansion.') ? 'domain_search_id' : idName
}

/** Returns the fields that rows may have, in the order of a table's columns. */
export function fieldsOfRows(object: ObjectKind): string[] {
  return Object.keys(names[object])
}

/**
 * Reads a row of a search's page. Values of another type than text or number are left out. A person's one name is divided at the
 * last gap, where the row does not divide it itself. Never throws.
 */
export function listRowOf(
  object: ObjectKind,
  row: Readonly<Record<string, unknown>>,
  { page, idName, ...options }: IdentityOptions & { page: number; idName: string },
): ListRow {
  const values = valuesOf(object, row)
  const id = row[idName]
  const serviceId = isFilled(id) ? String(id) : null
  const identity = identityOf(object, values, serviceId)
  return {
    object,
    page,
    serviceId,
    identity,
    values,
    identities: recordIdentities({ object, identity, values }, options),
  }
}

/** Returns the object that the rows of a search are about. Those of jobs, news, advertisements and the like are about a company. */
export function objectOfRows(operation: Operation): ObjectKind {
  return operation.startsWith('people.') ? 'person' : 'company'
}

/** Returns everything by which the suppression list may name what a row is about. Never throws. */
export function identifiersOfRow(object: ObjectKind, row: Readonly<Record<string, unknown>>): Identifier[] {
  const text = (place: string) => (typeof row[place] === 'string' ? { [place]: row[place] } : {})
  const identity = identityOf(object, valuesOf(object, row), null)
  return identifiersOfSubject(object, { ...identity, ...text('email'), ...text('phone') })
}

/** Returns the identifiers of a row's identity. A company's own domain leads to its profile, an employer's domain does not. */
export function identifiersOfSubject(object: ObjectKind, identity: Identity): Identifier[] {
  return identifiersOf(identity).map((each) =>
    object === 'company' && each.kind === 'domain' ? { ...each, isCompany: true } : each,
  )
}

function valuesOf(object: ObjectKind, row: Readonly<Record<string, unknown>>): Record<string, FieldValue> {
  const values: Record<string, FieldValue> = {}
  for (const [field, places] of Object.entries(names[object])) {
    const value = places.map((place) => row[place]).find(isFilled)
    if (value !== undefined) values[field] = typeof value === 'string' ? value.trim() : value
  }
  if (object === 'person') divideName(values)
  return values
}

function isFilled(value: unknown): value is string | number {
  return typeof value === 'number' || (typeof value === 'string' && value.trim() !== '')
}

function divideName(values: Record<string, FieldValue>): void {
  const whole = values['full_name']
  if (typeof whole !== 'string' || values['last_name'] !== undefined) return
  const gap = whole.lastIndexOf(' ')
  if (gap <= 0) return
  values['first_name'] ??= whole.slice(0, gap).trim()
  values['last_name'] = whole.slice(gap + 1)
}

function identityOf(
  object: ObjectKind,
  values: Readonly<Record<string, FieldValue>>,
  serviceId: string | null,
): Identity {
  const text = (field: string) => (values[field] === undefined ? undefined : String(values[field]))
  const found: Record<string, string | undefined> =
    object === 'company'
      ? {
          profileUrl: text('profnet_url'),
          domain: text('domain'),
          company: text('company_name'),
          companyId: serviceId ?? undefined,
        }
      : {
          profileUrl: text('profnet_url'),
          firstName: text('first_name'),
          lastName: text('last_name'),
          company: text('company_name'),
          domain: text('company_domain'),
        }
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined))
}
