import { canonicalProfileUrl, opaqueId, underAllHosts, type LookupKey } from '../keys.ts'
import { registrableDomain } from '../normalise/domain.ts'
import { isPersonalMailDomain } from '../normalise/email.ts'
import type { Operation } from '../words.ts'
import { canonicalId } from '../planning/company-keys.ts'
import { kindOfName, namedBy } from './names.ts'

/** The names of its subject that one answer teaches. */
export interface Lesson {
  /** The profile URL that the answer bears. */
  profile: string
  /** The name that was asked for. */
  asked?: string | undefined
  /** The service's own number, which tells two subjects apart. */
  uid?: string | undefined
  /** Further names: the id of searches, the profile under its number, a company's domain. */
  others: string[]
}

/**
 * By name: the profile URL under which the service answers, the same for all names of one subject. Null where two answers
 * disagree: the name then stands for nobody but itself.
 */
export type KnownNames = ReadonlyMap<string, string | null>

/** Hostile or broken answers must not make a subject grow without end. */
const mostNames = 60
const maxLength = 500

/** Returns what a found answer teaches, or undefined where it does not bear a profile URL. */
export function lessonOf(
  key: LookupKey,
  answer: Readonly<Record<string, unknown>>,
  hosts: readonly string[],
): Lesson | undefined {
  const operation = key.slice(0, key.indexOf('|'))
  const object = operation.startsWith('company.') ? 'company' : 'person'
  if (!teachingOperations.includes(operation as Operation)) return undefined
  const profile = canonicalProfileUrl(object, textOf(answer['profnet_url']) ?? '', hosts)
  if (!profile.ok) return undefined
  const asked = namedBy(key)?.name
  const number = textOf(answer['profnet_uid'])
  const isNumber = number !== undefined && /^[\w-]{1,64}$/.test(number) && !/^0+$/.test(number)
  const searchId = textOf(answer['people_search_id'])
  return {
    profile: profile.value,
    asked: asked === undefined ? undefined : underAllHosts(asked, hosts)[0],
    uid: isNumber ? `uid:${object}:${number}` : undefined,
    others: [
      ...(isNumber ? numberedProfile(object, number, profile.value) : []),
      ...(object === 'person' && searchId !== undefined ? [`id:${searchId}`] : []),
      ...(object === 'company' ? [...ownDomain(answer), ...companyId(answer)] : []),
    ],
  }
}

/** The operations whose answers bear the profile of their subject. */
export const teachingOperations: readonly Operation[] = [
  'person.profile',
  'contact.lookup',
  'contact.redeem',
  'company.profile',
  'company.lookup',
  'company.enrich',
]

/** A company's page has its number as a name too, and a person's has an opaque id. A person may choose digits as a name. */
function numberedProfile(object: 'company' | 'person', number: string, profile: string): string[] {
  const host = profile.slice(0, profile.indexOf('/'))
  if (object === 'company') return /^\d+$/.test(number) ? [`${host}/company/${number}`] : []
  return opaqueId.test(number) ? [`${host}/in/${number}`] : []
}

function companyId(answer: Readonly<Record<string, unknown>>): string[] {
  const id = canonicalId(textOf(answer['domain_search_id']) ?? '')
  return id.ok ? [`domain_search_id:${id.value}`] : []
}

/** Several companies may share a website. Only a domain that the service calls the company's own names it. */
function ownDomain(answer: Readonly<Record<string, unknown>>): string[] {
  const [domain, own] = [answer['domain'], answer['unique_domain']].map((each) =>
    registrableDomain(textOf(each) ?? ''),
  )
  if (!domain?.ok || !own?.ok || domain.value !== own.value) return []
  return isPersonalMailDomain(own.value) ? [] : [own.value]
}

/**
 * Returns the names that change when these answers are known. The rules that keep two subjects apart:
 *
 * 1. A name means the profile that the service answered with. A second answer that says another one joins the two only when
 *    the second was asked for by a name of the first, and their numbers (`profnet_uid`) do not differ: it was renamed.
 * 2. Otherwise the name belongs to neither, for good. So does a number or an id under two profiles, and a domain that two
 *    companies call their own or are answered with. Each profile keeps a note of such a number, for the next rule.
 * 3. A profile that is answered with another number than before was passed on: the names it had go to nobody.
 */
export function learnNames(known: KnownNames, lessons: readonly Lesson[]): Map<string, string | null> {
  const names = new Map<string, string | null>()
  const bySubject = new Map<string, Set<string>>()
  function set(name: string, subject: string | null): void {
    const before = names.get(name)
    if (typeof before === 'string') bySubject.get(before)?.delete(name)
    names.set(name, subject)
    if (subject === null) return
    const all = bySubject.get(subject)
    if (all) all.add(name)
    else bySubject.set(subject, new Set([name]))
  }
  for (const [name, subject] of known) set(name, subject)
  const namesOf = (subject: string) => [...(bySubject.get(subject) ?? [])]
  const numbersOf = (subject: string) =>
    namesOf(subject).flatMap((name) => (kindOfName(name) === 'uid' ? [numberIn(name)] : []))

  /** Gives a name to a subject, or to nobody when another has it. */
  function give(name: string, subject: string): void {
    const holder = names.get(name)
    if (holder === undefined) {
      if ((bySubject.get(subject)?.size ?? 0) < mostNames) set(name, subject)
    } else if (holder !== subject) set(name, null)
  }

  /** A number under two profiles names neither, but still tells when one of them is passed on. */
  function giveNumber(uid: string, subject: string): void {
    const holder = names.get(uid)
    if (holder === undefined || holder === subject) return set(uid, subject)
    set(uid, null)
    for (const each of [holder, subject]) if (each !== null) set(noteOf(uid, each), each)
  }

  for (const { profile, asked, uid, others } of lessons) {
    let subject = names.get(profile) ?? profile
    if (differ(numbersOf(subject), uid)) {
      if (subject === profile) for (const name of namesOf(profile)) set(name, null)
      set(profile, profile)
      subject = profile
    } else if (!names.has(profile)) set(profile, profile)
    if (asked !== undefined && asked !== profile) {
      const holder = names.get(asked)
      const isRenamed =
        typeof holder === 'string' &&
        holder !== subject &&
        // A website or a page may pass from one company to another.
        !['domain', 'page'].includes(kindOfName(asked)) &&
        ![uid, ...numbersOf(subject)].some((number) => differ(numbersOf(holder), number))
      if (isRenamed) for (const name of namesOf(holder)) set(name, subject)
      else give(asked, subject)
    }
    if (uid !== undefined) giveNumber(uid, subject)
    for (const name of others) give(name, subject)
  }
  return new Map([...names].filter(([name, subject]) => known.get(name) !== subject))
}

/** Returns a number as a name, from itself or from a profile's note of it, with the pages that go by it. */
export function namesOfNumber(uidOrNote: string, hosts: readonly string[]): string[] {
  const uid = numberIn(uidOrNote)
  const [, object, number = ''] = uid.split(':')
  return [uid, ...numberedProfile(object === 'company' ? 'company' : 'person', number, `${hosts[0]}/`)]
}

/** Returns the name under which a profile keeps a number that another profile bears too. Nothing is asked by it. */
function noteOf(uid: string, profile: string): string {
  return `${uid}@${profile}`
}

function numberIn(name: string): string {
  return name.split('@', 1)[0] ?? name
}

function differ(numbers: readonly string[], number: string | undefined): boolean {
  return number !== undefined && numbers.length > 0 && !numbers.includes(number)
}

/** Returns the names that decide what a lesson changes. */
export function namesIn({ profile, asked, uid, others }: Lesson): string[] {
  return [profile, ...(asked === undefined ? [] : [asked]), ...(uid === undefined ? [] : [uid]), ...others]
}

function textOf(value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const text = String(value).trim()
  return text === '' || text.length > maxLength || /\p{Cc}/u.test(text) || !text.isWellFormed()
    ? undefined
    : text
}
