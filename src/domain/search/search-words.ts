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
  const words = new Set<string>()
  const add = (value: string | undefined, wordsOf: (value: string) => readonly string[]) => {
    if (value !== undefined) for (const word of wordsOf(value)) words.add(cutWord(word))
  }
  const addFound = (field: string, wordsOf: (value: string) => readonly string[]) => {
    const change = patch?.[field]
    if (change && 'set' in change) add(String(change.set), wordsOf)
  }
  const profileWords = (raw: string) => profileWord(object, raw, hosts)
  for (const name of [identity.firstName, identity.lastName, identity.company]) add(name, nameWords)
  for (const field of nameFields) addFound(field, nameWords)
  add(identity.email, emailWords)
  for (const field of emailFields) addFound(field, emailWords)
  add(identity.domain, domainWords)
  for (const field of domainFields) addFound(field, domainWords)
  add(identity.profileUrl, profileWords)
  addFound('profnet_url', profileWords)
  add(identity.phone, phoneWords)
  for (const field of phoneFields) addFound(field, phoneWords)
  return [...words].slice(0, mostWords)
}

const nameFields = ['full_name', 'first_name', 'last_name', 'company_name']
const emailFields = ['email', 'email_personal']
const domainFields = ['domain', 'website']
const phoneFields = ['phone', 'mobile_phone']

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

function phoneWords(raw: string): string[] {
  const phone = phoneE164(raw)
  return phone === undefined ? [] : [phone]
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
