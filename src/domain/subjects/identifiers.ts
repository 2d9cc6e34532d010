import { phoneE164 } from '../normalise/phone.ts'
import { canonicalProfileUrl, underAllHosts, type Canonical } from '../keys.ts'
import { registrableDomain } from '../normalise/domain.ts'
import { canonicalEmail } from '../normalise/email.ts'
import type { Identity, Patch } from '../record.ts'
import { kindOfName } from './names.ts'

/** The kinds of identifiers by which a subject can be suppressed or forgotten. */
export const identifierKinds = ['email', 'phone', 'profile_url', 'domain'] as const
export type IdentifierKind = (typeof identifierKinds)[number]

/** One canonical identifier of a subject, the same for every spelling. */
export interface Identifier {
  kind: IdentifierKind
  value: string
  /** Set for a domain that stands for a company, and not for everyone with an address there. */
  isCompany?: true
}

/** Returns the canonical form of an identifier as typed. Reasons never contain the value. */
export function identifierOf(kind: IdentifierKind, raw: string): Canonical {
  switch (kind) {
    case 'email':
      return canonicalEmail(raw)
    case 'phone': {
      const phone = phoneE164(raw)
      return phone === undefined
        ? { ok: false, reason: 'it is not a phone number with its country prefix (+49 ...)' }
        : { ok: true, value: phone }
    }
    case 'profile_url': {
      const person = canonicalProfileUrl('person', raw)
      return person.ok ? person : canonicalProfileUrl('company', raw)
    }
    case 'domain':
      return registrableDomain(raw)
  }
}

/**
 * Returns a profile under every host of the network, and any other identifier as it is. A profile that was read without the
 * settings may name a host below one of them (`members.`); an older entry of the list may have been made from it, so it comes last.
 */
export function underAllNames(identifier: Identifier, hosts: readonly string[]): Identifier[] {
  const { kind, value } = identifier
  return kind === 'profile_url'
    ? [...new Set([...underAllHosts(value, hosts), value])].map((name) => ({ kind, value: name }))
    : [identifier]
}

/** Returns the identifier that a name is. The service's ids and numbers are none. */
export function identifiersOfName(name: string): Identifier[] {
  const kind = kindOfName(name)
  if (kind === 'person' || kind === 'company') return [{ kind: 'profile_url', value: name }]
  return kind === 'domain' ? [{ kind, value: name, isCompany: true }] : []
}

/** Returns every identifier by which a record can be suppressed. An address also gives its domain. */
export function identifiersOf(identity: Identity): Identifier[] {
  return [
    ...emailIdentifiers(identity.email),
    ...one('phone', identity.phone),
    ...one('profile_url', identity.profileUrl),
    ...one('domain', identity.domain),
  ]
}

const emailFields = ['email', 'email_personal']
const phoneFields = ['phone', 'mobile_phone']

/** Returns the identifiers in a patch: an address or profile that a lookup found may be a suppressed one. */
export function identifiersOfPatch(patch: Patch): Identifier[] {
  const text = (field: string): string | undefined => {
    const change = patch[field]
    return change && 'set' in change ? String(change.set) : undefined
  }
  return [
    ...emailFields.flatMap((field) => emailIdentifiers(text(field))),
    ...phoneFields.flatMap((field) => one('phone', text(field))),
    ...one('profile_url', text('profnet_url')),
    ...one('domain', text('domain')),
  ]
}

function emailIdentifiers(raw: string | undefined): Identifier[] {
  const [identifier] = one('email', raw)
  return identifier
    ? [identifier, ...one('domain', identifier.value.slice(identifier.value.lastIndexOf('@') + 1))]
    : []
}

function one(kind: IdentifierKind, raw: string | undefined): Identifier[] {
  if (raw === undefined) return []
  const canonical = identifierOf(kind, raw)
  return canonical.ok ? [{ kind, value: canonical.value }] : []
}
