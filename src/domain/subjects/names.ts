import { isContactType } from '../contact-types.ts'
import { lookupKey, underAllHosts, type LookupKey } from '../keys.ts'
import { furtherIdentifiers } from '../record.ts'
import type { Operation } from '../words.ts'

/**
 * The way a lookup's key names its subject: by a canonical profile, by `id:` and the service's id, by a domain, or by a further
 * identifier of a company after its name: `tiktok_url:tiktok.com/@acme`.
 */
export interface NamedBy {
  operation: Operation
  name: string
  /** The contact type of a redemption. */
  type?: string
}

/** Another lookup whose answer answers this one too. */
export interface SameQuestion {
  key: LookupKey
  /** The answer that is needed: `any`, also nothing found; `found`; or `complete`, found with every field of a profile. */
  needs: 'any' | 'found' | 'complete'
}

const namedOperations: readonly string[] = [
  'person.profile',
  'company.profile',
  'company.lookup',
  'company.enrich',
]

/** Returns by what a key names its subject, or undefined where it names none: a search by e-mail, a logo, a batch. */
export function namedBy(key: LookupKey): NamedBy | undefined {
  const bar = key.indexOf('|')
  const [operation, rest] = [key.slice(0, bar) as Operation, key.slice(bar + 1)]
  if (namedOperations.includes(operation)) return rest === '' ? undefined : { operation, name: rest }
  if (operation !== 'contact.redeem') return undefined
  const last = rest.lastIndexOf('|')
  const type = rest.slice(last + 1)
  return last > 0 && isContactType(type) ? { operation, name: rest.slice(0, last), type } : undefined
}

/**
 * Returns the lookups that ask the same about the same subject under other names: under every host of the network, and under
 * the names that answers have taught. A company's profile also answers for its domain, and the other way round where the
 * answer has every field of a profile.
 */
export function sameQuestions(
  key: LookupKey,
  hosts: readonly string[],
  taught: (name: string) => readonly string[] = () => [],
): SameQuestion[] {
  const asked = namedBy(key)
  if (!asked) return []
  const questions: SameQuestion[] = []
  const add = (question: SameQuestion | undefined) => {
    if (question && question.key !== key && !questions.some((other) => other.key === question.key))
      questions.push(question)
  }
  const own = underAllHosts(asked.name, hosts)
  for (const name of own) add(questionAbout(asked, name))
  for (const name of own.flatMap(taught).flatMap((each) => underAllHosts(each, hosts))) {
    const question = questionAbout(asked, name)
    add(question && !isAboutAllNames(asked.operation) ? foundAtLeast(question) : question)
  }
  return questions
}

/**
 * False for a lookup whose questions with any answer (`needs: 'any'`) are the same whatever names answers have taught: what was not
 * found under another name may still be there under this one.
 */
export function asksUnderTaughtNames(key: LookupKey): boolean {
  const asked = namedBy(key)
  return asked !== undefined && isAboutAllNames(asked.operation)
}

/** A subject without a phone or an e-mail has none under any name, and asking is dear. */
function isAboutAllNames(operation: Operation): boolean {
  return operation === 'contact.redeem'
}

/** A name of before may lead nowhere by now, which does not say that the subject is gone under its other names. */
function foundAtLeast(question: SameQuestion): SameQuestion {
  return question.needs === 'any' ? { ...question, needs: 'found' } : question
}

function questionAbout({ operation, type }: NamedBy, name: string): SameQuestion | undefined {
  const kind = kindOfName(name)
  const same: SameQuestion = { key: lookupKey(operation, name), needs: 'any' }
  switch (operation) {
    case 'person.profile':
      return kind === 'person' ? same : undefined
    case 'company.enrich':
      return kind === 'company' || kind === 'domain' || kind === 'page' ? same : undefined
    case 'company.profile':
      if (kind === 'company') return same
      return kind === 'domain' || kind === 'page'
        ? { key: lookupKey('company.lookup', name), needs: 'complete' }
        : undefined
    case 'company.lookup':
      if (kind === 'domain' || kind === 'page') return same
      return kind === 'company' ? { key: lookupKey('company.profile', name), needs: 'found' } : undefined
    case 'contact.redeem':
      return kind === 'person' || kind === 'id'
        ? { key: lookupKey(operation, `${name}|${type}`), needs: 'any' }
        : undefined
    default:
      return undefined
  }
}

const furtherNames: readonly string[] = furtherIdentifiers.map(({ name }) => name)

/**
 * Returns what kind of name this is. A `page` is a further identifier of a company. A `uid` is never asked by: it only tells
 * subjects apart.
 */
export function kindOfName(name: string): 'person' | 'company' | 'domain' | 'page' | 'id' | 'uid' {
  if (name.startsWith('id:')) return 'id'
  if (name.startsWith('uid:')) return 'uid'
  if (furtherNames.includes(name.slice(0, Math.max(0, name.indexOf(':'))))) return 'page'
  if (!name.includes('/')) return 'domain'
  return /^[^/]+\/company\//.test(name) ? 'company' : 'person'
}

/** The fields of the service's company record that a profile is read for. */
export const profileKeys: readonly string[] = [
  'company_name',
  'profnet_url',
  'domain',
  'company_url',
  'title',
  'industry',
  'description',
  'company_size',
  'company_size_printed',
  'company_type',
  'founded_year',
  'headquarters',
  'company_address',
  'country_code',
  'follower_size',
]
