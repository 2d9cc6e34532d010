import type { LookupKey } from '../keys.ts'
import { profileUrlOf } from '../keys.ts'
import type { MatchedRecord } from '../lists/matched-record.ts'
import type { StoredRow } from '../lists/list-row.ts'
import type { FieldValue, Identity } from '../record.ts'
import { recordIdentities, type IdentityOptions, type RecordIdentity } from '../subjects/record-identities.ts'

/** A person who has moved, with the job of today. */
export interface Mover {
  /** The record at the employer of before. */
  recordId: string
  /** The canonical profile URL of the person. */
  profileUrl: string
  /** The person as the record of before names them. */
  identity: Identity
  employer: {
    /** The canonical profile URL of the company. */
    profileUrl: string | null
    domain: string | null
    name: string | null
    title: string | null
  }
  /** Every record of the person that is known to be of an employer of before. */
  besides: readonly MatchedRecord[]
  relationship?: string | undefined
}

/**
 * Returns a person at the new employer as a row of a list. The profile names the record of before too, so the row has a name of its own:
 * the person at this employer. Undefined where neither domain nor profile of the employer is known: a name is that of several. Pure.
 */
export function joiningRow(
  mover: Mover,
  ordinal: number,
  options: IdentityOptions = {},
): StoredRow | undefined {
  const { recordId, profileUrl, employer, besides, relationship } = mover
  const at = employer.domain ?? employer.profileUrl
  if (at === null) return undefined
  const own: RecordIdentity = { kind: 'service_id', value: `champion:${profileUrl} ${at}` }
  const { firstName, lastName } = mover.identity
  const url = profileUrlOf(profileUrl)
  const identity: Identity = {
    profileUrl: url,
    ...named('firstName', firstName),
    ...named('lastName', lastName),
    ...named('company', employer.name),
    ...named('domain', employer.domain),
  }
  const values: Record<string, FieldValue> = {
    ...named('first_name', firstName),
    ...named('last_name', lastName),
    profnet_url: url,
    ...named('job_title', employer.title),
    ...named('company_name', employer.name),
    ...named('company_domain', employer.domain),
    ...named(
      'company_profnet_url',
      employer.profileUrl === null ? undefined : profileUrlOf(employer.profileUrl),
    ),
    former_record: recordId,
    ...named('champion_relationship', relationship),
  }
  return {
    object: 'person',
    ordinal,
    part: 0,
    page: 0,
    lookupKey: '' as LookupKey,
    serviceId: own.value,
    identity,
    values,
    identities: [own, ...recordIdentities({ object: 'person', identity, values }, options)],
    found: [],
    besides,
  }
}

function named<Name extends string>(
  name: Name,
  value: string | null | undefined,
): Partial<Record<Name, string>> {
  return value === undefined || value === null ? {} : ({ [name]: value } as Record<Name, string>)
}
