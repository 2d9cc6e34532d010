import type { LookupKey } from '../keys.ts'
import type { FieldValue, Identity } from '../record.ts'
import { recordIdentities, type IdentityOptions } from '../subjects/record-identities.ts'
import { identityText } from './judged-row.ts'
import type { StoredRow } from './list-row.ts'

/** A company that something else than a search has named. */
export interface NamedCompany {
  /** The service's own id of it. */
  serviceId: string | null
  identity: Identity
  values: Readonly<Record<string, FieldValue>>
}

/**
 * Returns a company as a row of a list, which stands on no page. Undefined for one that nothing but its name is known of: it could be
 * any of that name. A company without a name is called by its domain until something better is found. Pure.
 */
export function companyRow(company: NamedCompany, options: IdentityOptions = {}): StoredRow | undefined {
  const { serviceId, identity, values: given } = company
  const values = { ...valuesOf(identity), ...given }
  const identities = recordIdentities({ object: 'company', identity, values }, options)
  const [sure] = identities.filter(
    ({ kind }) => kind === 'profile' || kind === 'service_id' || kind === 'domain',
  )
  if (!sure) return undefined
  return {
    object: 'company',
    ordinal: 1,
    part: 0,
    page: 0,
    lookupKey: '' as LookupKey,
    serviceId: serviceId ?? identityText(sure),
    identity,
    values,
    identities,
    found: [],
  }
}

function valuesOf({ profileUrl, domain, company }: Identity): Record<string, FieldValue> {
  const name = company ?? domain
  return {
    ...(name === undefined ? {} : { company_name: name }),
    ...(domain === undefined ? {} : { domain }),
    ...(profileUrl === undefined ? {} : { profnet_url: profileUrl }),
  }
}
