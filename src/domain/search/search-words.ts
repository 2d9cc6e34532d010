import { canonicalDomain, canonicalProfileUrl, defaultNetworkHosts } from '../keys.ts'
import { registrableDomain } from '../normalise/domain.ts'
import { canonicalEmail } from '../normalise/email.ts'
import { phoneE164 } from '../normalise/phone.ts'
import { foldText } from '../normalise/text.ts'
import type { Identity, Patch } from '../record.ts'
import type { ObjectKind } from '../words.ts'

/** Enough for every name in a record; a hostile value must not fill an index. */
const mostWords = 60
/** A word is found by its beginning, so a longer one is cut, here and in what is searched for. */
const longestWord = 200
/** No name is longer, and folding a longer text takes time. */
const longestText = 1_000

/**
 * Returns the words by which a record is found: each word of its names, and its addresses, domains, profile and phone in one
 * form for all spellings. A value that a lookup has found for the record counts as one of its own.
 */
export function searchWords(
  object: ObjectKind,
  identity: Identity,
  patch: Patch | null,
  hosts: readonly string[] = defaultNetworkHosts,
): string[] {
  const found = (...fields: string[]) =>
    fields.flatMap((field) => {
      const change = patch?.[field]
      return change && 'set' in change ? [String(change.set)] : []
    })
  const given = (...values: (string | undefined)[]) => values.filter((value) => value !== undefined)
  const words = [
    ...[
      ...given(identity.firstName, identity.lastName, identity.company),
      ...found('full_name', 'first_name', 'last_name', 'company_name'),
    ].flatMap(nameWords),
    ...[...given(identity.email), ...found('email', 'email_personal')].flatMap(emailWords),
    ...[...given(identity.domain), ...found('domain', 'website')].flatMap(domainWords),
    ...[...given(identity.profileUrl), ...found('profnet_url')].flatMap((raw) =>
      profileWord(object, raw, hosts),
    ),
    ...[...given(identity.phone), ...found('phone', 'mobile_phone')].flatMap((raw) => phoneE164(raw) ?? []),
  ]
  return [...new Set(words.map(cutWord))].slice(0, mostWords)
}

/** Returns the words of a name, folded. `O'Brien` and `OBrien` are one. */
export function nameWords(name: string): string[] {
  return foldText(name.slice(0, longestText))
    .replace(/['’ʼ`´‘]/gu, '')
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((word) => word !== '')
}

/** Returns an address and its domain: a domain also finds the people who have an address there. */
function emailWords(raw: string): string[] {
  const email = canonicalEmail(raw)
  if (!email.ok) return []
  return [email.value, ...domainWords(email.value.slice(email.value.lastIndexOf('@') + 1))]
}

/** Returns a host and the domain under which it is registered. */
export function domainWords(raw: string): string[] {
  return [canonicalDomain(raw), registrableDomain(raw)].flatMap((domain) => (domain.ok ? [domain.value] : []))
}

/** Returns a profile without its host, which is the same for the hosts of a network. */
function profileWord(object: ObjectKind, raw: string, hosts: readonly string[]): string[] {
  const profile = canonicalProfileUrl(object, raw, hosts)
  return profile.ok ? [profile.value.slice(profile.value.indexOf('/'))] : []
}

/** Cuts by characters, not in the middle of one. */
export function cutWord(word: string): string {
  return word.length <= longestWord ? word : [...word].slice(0, longestWord).join('')
}
