import { askableProfileUrl, bytesOf } from '../keys.ts'
import { foldCompanyName } from '../normalise/company.ts'
import { registrableDomain } from '../normalise/domain.ts'
import { canonicalEmail, isPersonalMailDomain } from '../normalise/email.ts'
import { phoneE164 } from '../normalise/phone.ts'
import { foldPersonName } from '../normalise/text.ts'
import { canonicalIdentifier } from '../planning/company-keys.ts'
import { furtherIdentifiers, type FieldValue, type SourceRecord } from '../record.ts'

/**
 * The kinds of values by which two records are found to be the same, the surest first. `name` is a folded name without anything
 * beside it: it is never enough to call two records the same.
 */
const recordIdentityKinds = [
  'profile',
  'service_id',
  'email',
  'domain',
  'phone',
  'phone_name',
  'name_domain',
  'name',
] as const
export type RecordIdentityKind = (typeof recordIdentityKinds)[number]

/** One canonical value of a record, the same for all of its spellings. */
export interface RecordIdentity {
  kind: RecordIdentityKind
  value: string
}

export interface IdentityOptions {
  /** The hosts of the network, on all of which a profile is the same. Default: the published ones. */
  hosts?: readonly string[] | undefined
  /** The country of phones without a prefix. */
  country?: string | undefined
}

/** Longer texts name nobody, and could not stand in an index. */
const maxBytes = 600

/** The fields beside a record's identity that hold values of the same kinds. */
const domainFields = { company: ['domain', 'website'], person: ['company_domain', 'company_website'] }
const emailFields = ['email', 'email_personal']
const phoneFields = ['phone', 'mobile_phone']

/**
 * Returns every canonical value by which a record can be found again. A profile is its kind and slug, so that it is the same on
 * all hosts of the network. A company has its registrable domains, but none of a mailbox provider; a person has none, because
 * colleagues share it. A `phone_name` is a phone with the folded surname, a `name_domain` the folded name with a domain. Values
 * that cannot be read identify nothing. Pure.
 */
export function recordIdentities(
  { object, identity, values = {} }: Pick<SourceRecord, 'object' | 'identity' | 'values'>,
  { hosts, country }: IdentityOptions = {},
): RecordIdentity[] {
  const raw = (first: string | undefined, fields: readonly string[]): string[] =>
    [first, ...fields.map((field) => text(values[field]))].filter((value) => value !== undefined)
  const domains = distinct(
    raw(identity.domain, domainFields[object])
      .map((value) => registrableDomain(value))
      .flatMap((domain) => (domain.ok && !isPersonalMailDomain(domain.value) ? [domain.value] : [])),
  )
  const profiles = raw(identity.profileUrl, ['profnet_url'])
    .map((url) => askableProfileUrl(object, url, hosts))
    .flatMap((profile) => (profile.ok ? [profile.value.slice(profile.value.indexOf('/') + 1)] : []))
  const found: RecordIdentity[] = profiles.map((value) => ({ kind: 'profile', value }))

  if (object === 'company') {
    for (const { field, name } of furtherIdentifiers) {
      const id = canonicalIdentifier(name, identity[field] ?? '', hosts)
      if (id.ok) found.push({ kind: 'service_id', value: `${name}:${id.value}` })
    }
    found.push(...domains.map((value): RecordIdentity => ({ kind: 'domain', value })))
    const name = foldCompanyName(identity.company ?? text(values['company_name']) ?? '')
    return distinctIdentities([...found, ...named(name, domains)])
  }
  const [firstName, lastName] = [
    identity.firstName ?? text(values['first_name']) ?? '',
    identity.lastName ?? text(values['last_name']) ?? '',
  ]
  for (const given of raw(identity.email, emailFields)) {
    const email = canonicalEmail(given)
    if (email.ok) found.push({ kind: 'email', value: email.value })
  }
  const surname = foldPersonName(lastName)
  for (const given of raw(identity.phone, phoneFields)) {
    const phone = phoneE164(given, country)
    if (phone === undefined) continue
    found.push({ kind: 'phone', value: phone })
    if (surname !== '') found.push({ kind: 'phone_name', value: `${phone}|${surname}` })
  }
  const whole = firstName === '' || surname === '' ? '' : foldPersonName(firstName, lastName)
  return distinctIdentities([...found, ...named(whole, domains)])
}

function named(name: string, domains: readonly string[]): RecordIdentity[] {
  if (name === '') return []
  return [
    ...domains.map((domain): RecordIdentity => ({ kind: 'name_domain', value: `${name}@${domain}` })),
    { kind: 'name', value: name },
  ]
}

function text(value: FieldValue | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : String(value)
}

function distinct(values: readonly string[]): string[] {
  return [...new Set(values)]
}

function distinctIdentities(identities: readonly RecordIdentity[]): RecordIdentity[] {
  const storable = identities.filter(({ value }) => bytesOf(value) <= maxBytes && isText(value))
  return [...new Map(storable.map((each) => [`${each.kind}|${each.value}`, each])).values()]
}

/** The database takes neither U+0000 nor half a surrogate pair, and one such value would stop a whole page. */
function isText(value: string): boolean {
  return value.isWellFormed() && !value.includes('\u0000')
}
