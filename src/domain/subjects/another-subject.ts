import { canonicalProfileUrl, type Canonical, type LookupKey } from '../keys.ts'
import { registrableDomain } from '../normalise/domain.ts'
import { canonicalEmail, companyDomainOf } from '../normalise/email.ts'
import { canonicalIdentifier } from '../planning/company-keys.ts'
import { phoneE164 } from '../normalise/phone.ts'
import { foldPersonName } from '../normalise/text.ts'
import { furtherIdentifiers, type FieldValue, type Identity } from '../record.ts'
import type { ObjectKind } from '../words.ts'

/** The values a record was looked up by, its values now, and those that cannot make it another's. */
export interface NamedBy {
  object: ObjectKind
  /** The lookups made for it, oldest first. The first one tells by what the record was identified. */
  steps: readonly LookupKey[]
  asked: Identity
  now: Identity
  /** By canonical field: the values of the answers, and those that we wrote into the record or were about to write. */
  known: readonly { field: string; value: FieldValue }[]
  /** The country of phones without a prefix. */
  country?: string | undefined
  /** The hosts of the network, on all of which a profile is the same. Default: the published ones. */
  hosts?: readonly string[] | undefined
}

/** The canonical fields whose values can become a part of a record's identity. */
const fieldsOf: Readonly<Partial<Record<keyof Identity, readonly string[]>>> = {
  profileUrl: ['profnet_url'],
  domain: ['domain', 'website', 'company_domain', 'company_website'],
  email: ['email', 'email_personal'],
  phone: ['phone', 'mobile_phone'],
  firstName: ['first_name'],
  lastName: ['last_name'],
}

/**
 * Returns whether the record names someone else than its answers are about: what it was looked up by has become another value,
 * or a profile was entered that is not the one of the answers. Compares canonical forms, so another spelling is the same. A
 * value that was removed, or that names nothing, identifies no one else. A value that we wrote, or that an answer tells, is no
 * change of subject. Pure.
 *
 * The name of a company or employer is not compared: people correct the one and change the other.
 */
export function namesAnotherSubject(by: NamedBy): boolean {
  return identifying(by.steps[0]).some((part) => isAnother(part, by)) || contradictsAnswers(by)
}

function isAnother(part: keyof Identity, by: NamedBy): boolean {
  const [asked, now] = [formOf(part, by.asked, by), formOf(part, by.now, by)]
  return asked !== undefined && now !== undefined && asked !== now && !knownForms(part, by).includes(now)
}

function contradictsAnswers(by: NamedBy): boolean {
  const [asked, now] = [formOf('profileUrl', by.asked, by), formOf('profileUrl', by.now, by)]
  if (now === undefined || asked === now) return false
  const told = knownForms('profileUrl', by)
  return told.length > 0 && !told.includes(now)
}

function knownForms(part: keyof Identity, by: NamedBy): string[] {
  const values = by.known.flatMap(({ field, value }) =>
    fieldsOf[part]?.includes(field) ? [String(value)] : [],
  )
  // A profile that an earlier step found is the subject's, whether or not the patch has it.
  const profiles = part === 'profileUrl' ? by.steps.map((key) => key.split('|')[1] ?? '') : []
  return [...values, ...profiles].flatMap((value) => formOf(part, { [part]: value }, by) ?? [])
}

/** Returns the parts of a record's identity that its first lookup was made by. */
function identifying(first: LookupKey | undefined): readonly (keyof Identity)[] {
  if (first === undefined) return []
  const [operation, subject = ''] = first.split('|')
  const further = furtherIdentifiers.find(({ name }) => subject.startsWith(`${name}:`))
  if (further) return [further.field]
  if (operation !== 'contact.lookup') return subject.includes('/') ? ['profileUrl'] : ['domain']
  if (subject.startsWith('email:')) return ['email']
  if (subject.startsWith('phone:')) return ['phone']
  return subject.startsWith('name_domain:') ? ['firstName', 'lastName', 'domain'] : ['firstName', 'lastName']
}

/** Returns the canonical form of a part, or undefined where it names nothing. */
function formOf(
  part: keyof Identity,
  identity: Identity,
  { object, country, hosts }: NamedBy,
): string | undefined {
  const raw = identity[part]
  // A company without a domain is looked up by that of its e-mail.
  if (raw === undefined)
    return part === 'domain' && object === 'company' && identity.email !== undefined
      ? companyDomainOf(identity.email)
      : undefined
  const further = furtherIdentifiers.find(({ field }) => field === part)
  switch (part) {
    case 'profileUrl':
      return valueOf(canonicalProfileUrl(object, raw, hosts))
    case 'domain':
      return valueOf(registrableDomain(raw))
    case 'email':
      return valueOf(canonicalEmail(raw))
    case 'phone':
      return phoneE164(raw, country)
    default:
      return further
        ? valueOf(canonicalIdentifier(further.name, raw, hosts))
        : foldPersonName(raw) || undefined
  }
}

function valueOf(canonical: Canonical): string | undefined {
  return canonical.ok ? canonical.value : undefined
}
