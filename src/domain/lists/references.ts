import { defaultNetworkHosts, profileUrlOf } from '../keys.ts'
import { isCompanyIdentifier, sentIdentifier } from '../planning/company-keys.ts'
import type { Identity, SourceRecord } from '../record.ts'
import { recordIdentities, type IdentityOptions, type RecordIdentity } from '../subjects/record-identities.ts'
import type { ObjectKind } from '../words.ts'

/** A company or person like which others are searched, as somebody gave it. */
export interface GivenReference {
  /** The place where it was given: `line 3`, `profiles[0]`, `companies:817`. */
  place: string
  identity: Identity
  values?: SourceRecord['values']
  /** The service's own id of a person. That of a company is part of its identity. */
  personId?: string | undefined
  /** The record of the CRM that it is. */
  recordId?: string | undefined
  /** The reason why it could not be read. */
  fault?: string | undefined
}

/** A company or person like which others are searched, by one question. */
export interface Reference {
  /** A name for people: the company's or person's own, or else the value that is asked with. */
  name: string
  /** The key of the request that names it, with its one spelling. */
  question: Readonly<Record<string, string>>
  /** Every value by which it is recognised among the rows. */
  identities: readonly RecordIdentity[]
  /** The service's own id of it, where it was given. */
  serviceIds: readonly string[]
  /** The records of the CRM that it is. */
  recordIds: readonly string[]
}

export interface DistinctReferences {
  references: Reference[]
  /** The references that were given once more, in another spelling. */
  repeated: number
  /** Those that nothing can be asked of, with the reason. */
  skipped: { place: string; reason: string }[]
}

interface Group {
  name: string | undefined
  identities: RecordIdentity[]
  personIds: string[]
  recordIds: string[]
}

/**
 * Returns each reference once, however often and in whatever spellings it was given, with the question that is asked of it: by its
 * profile, else its id, else its domain. Two of one domain with different profiles are two. Pure.
 */
export function distinctReferences(
  object: ObjectKind,
  given: readonly GivenReference[],
  options: IdentityOptions = {},
): DistinctReferences {
  const groups: Group[] = []
  const known = new Map<string, Group>()
  const skipped: DistinctReferences['skipped'] = []
  let repeated = 0
  for (const { place, identity, values, personId, recordId, fault } of given) {
    const identities = recordIdentities({ object, identity, ...(values && { values }) }, options).filter(
      ({ kind }) => kind !== 'name',
    )
    const group: Group = {
      name: nameOf(object, identity, values),
      identities,
      personIds: personId === undefined ? [] : [personId],
      recordIds: recordId === undefined ? [] : [recordId],
    }
    if (fault !== undefined || questionOf(object, group, options) === undefined) {
      skipped.push({ place, reason: fault ?? lacking[object] })
      continue
    }
    const same = sameAs(group, known)
    if (same) {
      repeated += 1
      same.name ??= group.name
      same.identities = distinct([...same.identities, ...identities])
      same.personIds = [...new Set([...same.personIds, ...group.personIds])]
      same.recordIds = [...new Set([...same.recordIds, ...group.recordIds])]
    } else groups.push(group)
    const kept = same ?? group
    for (const text of textsOf(kept)) if (!known.has(text)) known.set(text, kept)
  }
  const references = groups.flatMap((group): Reference[] => {
    const question = questionOf(object, group, options)
    if (!question) return []
    const { identities, personIds, recordIds } = group
    const name = group.name ?? Object.values(question)[0]!
    return [{ name, question, identities, serviceIds: personIds, recordIds }]
  })
  return { references, repeated, skipped }
}

/**
 * Returns a test for rows that are one of the references themselves. A row of the same domain with another profile is another
 * company.
 */
export function referenceTest(
  references: readonly Pick<Reference, 'identities' | 'serviceIds'>[],
): (row: { identities: readonly RecordIdentity[]; serviceId: string | null }) => boolean {
  const sure = new Set(
    references.flatMap(({ identities, serviceIds }) => sureTexts({ identities, personIds: serviceIds })),
  )
  const domains = new Map<string, boolean>()
  for (const reference of references)
    for (const text of domainTexts(reference))
      domains.set(text, hasProfile(reference) && (domains.get(text) ?? true))
  return ({ identities, serviceId }) => {
    const row = { identities, personIds: serviceId === null ? [] : [serviceId] }
    if (sureTexts(row).some((text) => sure.has(text))) return true
    return domainTexts(row).some((text) => {
      const isOfProfile = domains.get(text)
      return isOfProfile !== undefined && !(isOfProfile && hasProfile(row))
    })
  }
}

const lacking: Readonly<Record<ObjectKind, string>> = {
  company: 'it has no profile, id or domain of its own that can be asked with',
  person: 'it has no profile or id that can be asked with',
}

function questionOf(
  object: ObjectKind,
  { identities, personIds }: Group,
  { hosts = defaultNetworkHosts }: IdentityOptions,
): Record<string, string> | undefined {
  const first = (kind: RecordIdentity['kind']) => identities.find((each) => each.kind === kind)?.value
  const profile = first('profile')
  if (profile !== undefined) return { profnet_url: profileUrlOf(`${hosts[0]}/${profile}`) }
  if (object === 'person') return personIds[0] === undefined ? undefined : { people_search_id: personIds[0] }
  const id = first('service_id')
  if (id !== undefined) {
    const name = id.slice(0, id.indexOf(':'))
    if (isCompanyIdentifier(name)) return { [name]: sentIdentifier(name, id.slice(name.length + 1)) }
  }
  const domain = first('domain')
  return domain === undefined ? undefined : { domain }
}

/** A domain makes two the same only where no other profile speaks against it. */
function sameAs(group: Group, known: ReadonlyMap<string, Group>): Group | undefined {
  const bySure = sureTexts(group).map((text) => known.get(text))
  const sure = bySure.find((each) => each !== undefined)
  if (sure) return sure
  return domainTexts(group)
    .map((text) => known.get(text))
    .find((each) => each !== undefined && !(hasProfile(each) && hasProfile(group)))
}

type Named = { identities: readonly RecordIdentity[] }

function hasProfile({ identities }: Named): boolean {
  return identities.some(({ kind }) => kind === 'profile')
}

function sureTexts({ identities, personIds }: Named & { personIds: readonly string[] }): string[] {
  const sure = identities.filter(
    ({ kind }) => kind === 'profile' || kind === 'service_id' || kind === 'email',
  )
  return [...sure.map(({ kind, value }) => `${kind}|${value}`), ...personIds.map((id) => `person|${id}`)]
}

function domainTexts({ identities }: Named): string[] {
  return identities.flatMap(({ kind, value }) => (kind === 'domain' ? [`domain|${value}`] : []))
}

function textsOf(group: Group): string[] {
  return [...sureTexts(group), ...domainTexts(group)]
}

function distinct(identities: readonly RecordIdentity[]): RecordIdentity[] {
  return [...new Map(identities.map((each) => [`${each.kind}|${each.value}`, each])).values()]
}

function nameOf(object: ObjectKind, identity: Identity, values: SourceRecord['values']): string | undefined {
  const texts =
    object === 'company'
      ? [identity.company ?? values?.['company_name']]
      : [identity.firstName ?? values?.['first_name'], identity.lastName ?? values?.['last_name']]
  const name = texts
    .flatMap((text) => (text === undefined ? [] : [String(text).trim()]))
    .join(' ')
    .trim()
  return name === '' ? undefined : name.slice(0, 120)
}
