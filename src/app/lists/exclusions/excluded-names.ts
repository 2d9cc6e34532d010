import type { ListRow } from '../../../domain/lists/list-row.ts'
import { recordIdentities, type RecordIdentityKind } from '../../../domain/subjects/record-identities.ts'
import type { NamedRecord } from '../../../domain/ports/record-index.ts'
import type { ObjectIdentity } from '../../../store/lists/list-exclusions.ts'

/** The kinds by which a record leaves a row out. In doubt a row is left out: that is what the filter is for. A name alone is too little. */
const leavingOut: ReadonlySet<RecordIdentityKind> = new Set([
  'profile',
  'service_id',
  'email',
  'domain',
  'phone_name',
  'name_domain',
])

/** Returns the identities of a record by which rows are left out. */
export function namesOfRecord(record: NamedRecord, hosts: readonly string[]): ObjectIdentity[] {
  const { object } = record
  return recordIdentities(record, { hosts })
    .filter(({ kind }) => leavingOut.has(kind))
    .map((each) => ({ ...each, object }))
}

/** Returns the identities by which a row may be left out. A person goes with the employer, by its domain. */
export function namesOfRow(
  { object, identity, identities }: ListRow,
  hosts: readonly string[],
): ObjectIdentity[] {
  const own = identities.filter(({ kind }) => leavingOut.has(kind)).map((each) => ({ ...each, object }))
  if (object === 'company' || identity.domain === undefined) return own
  const employer = recordIdentities(
    { object: 'company', identity: { domain: identity.domain } },
    { hosts },
  ).map((each): ObjectIdentity => ({ ...each, object: 'company' }))
  return [...own, ...employer]
}
