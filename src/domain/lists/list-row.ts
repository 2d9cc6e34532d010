import type { FieldValue, Identity } from '../record.ts'
import { recordIdentities, type IdentityOptions, type RecordIdentity } from '../subjects/record-identities.ts'
import type { ObjectKind } from '../words.ts'

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
}

/** The names in a row of the service, by canonical field, the first that is filled. */
const names: Record<ObjectKind, Readonly<Record<string, readonly string[]>>> = {
  company: {
    company_name: ['company_name', 'name'],
    profnet_url: ['profnet_url'],
    domain: ['domain', 'unique_domain'],
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

/**
 * Reads a row of a search's page. Values of another type than text or number are left out. A person's one name is divided at the
 * last gap, where the row does not divide it itself. Never throws.
 */
export function listRowOf(
  object: ObjectKind,
  row: Readonly<Record<string, unknown>>,
  { page, idName, ...options }: IdentityOptions & { page: number; idName: string },
): ListRow {
  const values: Record<string, FieldValue> = {}
  for (const [field, places] of Object.entries(names[object])) {
    const value = places.map((place) => row[place]).find(isFilled)
    if (value !== undefined) values[field] = typeof value === 'string' ? value.trim() : value
  }
  if (object === 'person') divideName(values)
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
