import { phoneE164 } from '../normalise/phone.ts'
import type { ContactType } from '../contact-types.ts'
import { lookupKey, profileUrlOf, type Canonical, type LookupKey } from '../keys.ts'
import { foldCompanyName } from '../normalise/company.ts'
import { registrableDomain } from '../normalise/domain.ts'
import { canonicalEmail, isPersonalMailDomain } from '../normalise/email.ts'
import { normalForm } from '../normalise/normal-form.ts'
import { foldPersonName } from '../normalise/text.ts'
import type { Identity, LookupRequest } from '../record.ts'

/** The ways to search for a person, the most certain first. */
export type SearchPath = 'email' | 'phone' | 'name_domain' | 'name_company'

export interface ContactSearch {
  path: SearchPath
  key: LookupKey
  /** One entry of a contact lookup, single or in `peoples`. With similarity search it includes the switch. */
  request: LookupRequest
}

export interface ContactSearchOptions {
  /** Code or name of the country of phones without a prefix. */
  country?: string
  /** Also search by name where an e-mail or phone finds no person (service.md, 4.4, rule 2). */
  similarity?: boolean
}

type Named = { path: 'name_domain' | 'name_company'; canonical: string; entry: Record<string, string> }

/**
 * Returns the contact lookup for a person: by e-mail, else phone, else name and domain, else name and company. One person
 * in different spellings has one key per path. Refuses a person with nothing to search by. Reasons never contain a value.
 */
export function contactSearch(
  identity: Identity,
  options: ContactSearchOptions = {},
): { ok: true; search: ContactSearch } | { ok: false; reason: string } {
  const named = byName(identity)
  const email = canonicalEmail(identity.email ?? '')
  if (email.ok) return found('email', email.value, { email: email.value }, named, options)
  const phone = identity.phone === undefined ? undefined : phoneE164(identity.phone, options.country)
  if (phone !== undefined) return found('phone', phone, { phone }, named, options)
  if (named) {
    const key = lookupKey('contact.lookup', `${named.path}:${named.canonical}`)
    return { ok: true, search: { path: named.path, key, request: named.entry } }
  }
  return { ok: false, reason: missing(identity) }
}

/** A person as the service knows one: by profile, by the service's own id, or by both. */
export interface PersonReference {
  /** Canonical profile URL. */
  profile?: string
  peopleSearchId?: string
}

/**
 * Returns the redemption of one contact type of a person. Types are bought, answered and kept one by one, under the profile
 * where it is known. The request has the id where it is known, because only ids can be sent in batches. Throws RangeError
 * for an empty reference.
 */
export function redemption(
  { profile, peopleSearchId }: PersonReference,
  type: ContactType,
): { key: LookupKey; request: LookupRequest } {
  const canonical = profile ?? (peopleSearchId === undefined ? undefined : `id:${peopleSearchId}`)
  if (canonical === undefined) throw new RangeError('a redemption needs a profile or an id')
  return {
    key: lookupKey('contact.redeem', `${canonical}|${type}`),
    request: {
      ...(peopleSearchId === undefined
        ? { profnet_url: profileUrlOf(canonical) }
        : { people_search_id: peopleSearchId }),
      people_contact_types: [type],
    },
  }
}

/** Returns the domain by which a company is looked up, from a domain or website address. Refuses mailbox providers. */
export function companyDomain(raw: string): Canonical {
  const domain = registrableDomain(raw)
  if (domain.ok && isPersonalMailDomain(domain.value))
    return { ok: false, reason: 'it is a mailbox provider, not a company' }
  return domain
}

function found(
  path: 'email' | 'phone',
  canonical: string,
  entry: Record<string, string>,
  named: Named | undefined,
  { similarity = false }: ContactSearchOptions,
): { ok: true; search: ContactSearch } {
  // With a name to fall back on, the request is another one and may have another answer.
  const [request, suffix] =
    similarity && named
      ? [{ ...entry, ...named.entry, is_enable_similarity_search: true }, `|${named.path}:${named.canonical}`]
      : [entry, '']
  const key = lookupKey('contact.lookup', `${path}:${canonical}${suffix}`)
  return { ok: true, search: { path, key, request } }
}

function byName({ firstName = '', lastName = '', domain = '', company = '' }: Identity): Named | undefined {
  if (foldPersonName(firstName) === '' || foldPersonName(lastName) === '') return undefined
  const name = foldPersonName(firstName, lastName)
  const entry = { first_name: tidy(firstName), last_name: tidy(lastName) }
  const canonical = companyDomain(domain)
  if (canonical.ok) {
    return {
      path: 'name_domain',
      canonical: `${name}@${canonical.value}`,
      entry: { ...entry, domain: canonical.value },
    }
  }
  const folded = foldCompanyName(company)
  if (folded === '') return undefined
  return { path: 'name_company', canonical: `${name}@${folded}`, entry: { ...entry, company: tidy(company) } }
}

function tidy(text: string): string {
  return normalForm('NFC', text).replace(/\s+/gu, ' ').trim()
}

function missing({ email, phone, firstName, lastName, domain, company }: Identity): string {
  const broken = [
    email === undefined ? '' : 'the e-mail is not an address',
    phone === undefined ? '' : 'the phone is not a number that can be read without its country',
  ].filter((text) => text !== '')
  const halves =
    firstName || lastName
      ? firstName && lastName
        ? domain || company
          ? ['the name has no usable domain or company']
          : ['the name has no domain or company']
        : ['half of the name is missing']
      : []
  const why = [...broken, ...halves]
  return `nothing to search by: ${why.length > 0 ? why.join(', ') : 'no e-mail, phone, or name with domain or company'}`
}
