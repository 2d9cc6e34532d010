import { canonicalProfileUrl, defaultNetworkHosts, underAllHosts } from '../keys.ts'
import { canonicalEmail } from '../normalise/email.ts'
import { phoneE164 } from '../normalise/phone.ts'
import { foldText } from '../normalise/text.ts'
import { objectKinds } from '../words.ts'
import { cutWord, domainWords, nameWords } from './search-words.ts'

/** One word of a search: the whole word, or the beginning of one. */
export interface SearchTerm {
  text: string
  isBeginning: boolean
}

/** The possible meanings of a text that a person has typed. A record is found by each of these. */
export interface SearchQuery {
  /** All terms of one of these lists must be in a record. */
  anyOf: SearchTerm[][]
  /** The canonical names of a subject: a profile or a domain. The ledger may know others for it. */
  names: string[]
  /** As an id of a record. */
  recordId: string
}

/** More words find nothing that fewer do not. */
const mostTerms = 8

/** Reads an e-mail address, a phone, a profile URL in any spelling, a domain, or words of a name. */
export function readSearch(raw: string, hosts: readonly string[] = defaultNetworkHosts): SearchQuery {
  const text = raw.trim()
  const query: SearchQuery = { anyOf: [], names: [], recordId: text }
  const exact = (...words: string[]) => {
    for (const word of words) query.anyOf.push([{ text: cutWord(word), isBeginning: false }])
  }
  if (text === '') return query
  const profile = profileOf(text, hosts)
  if (profile !== undefined) {
    exact(profile.slice(profile.indexOf('/')))
    query.names.push(...underAllHosts(profile, hosts))
    return query
  }
  if (text.includes('@')) {
    const email = canonicalEmail(text)
    if (email.ok) exact(email.value)
    // An address that is not complete yet.
    else if (!/\s/.test(text)) query.anyOf.push([{ text: cutWord(foldText(text)), isBeginning: true }])
    return query
  }
  const phone = /^[+\d][\d\s()./-]{5,}$/.test(text) ? phoneE164(text) : undefined
  if (phone !== undefined) exact(phone)
  if (!/\s/.test(text)) {
    const [host] = domainWords(text)
    if (host !== undefined) {
      exact(host)
      query.names.push(host)
    }
  }
  const words = nameWords(text).slice(0, mostTerms)
  if (words.length > 0) query.anyOf.push(words.map((word) => ({ text: cutWord(word), isBeginning: true })))
  return query
}

/** Returns a canonical profile. One may be typed without its host too: `in/jane-doe`. */
function profileOf(text: string, hosts: readonly string[]): string | undefined {
  const given = /^\/?(in|pub|company)\//i.test(text) ? `${hosts[0]}/${text.replace(/^\//, '')}` : text
  for (const object of objectKinds) {
    const profile = canonicalProfileUrl(object, given, hosts)
    if (profile.ok) return profile.value
  }
  return undefined
}
