import { isContactType, type ContactType } from '../contact-types.ts'
import { phoneKind, phoneWithExtension } from '../normalise/phone.ts'
import { canonicalEmail, isPersonalMailDomain } from '../normalise/email.ts'
import type { Fact, FieldValue } from '../record.ts'

/**
 * The state of one list in an answer. `nothing`: null, so asked and not found. `empty`: `[]` or only blanks, which count as
 * nothing found. `not_asked`: absent, which says nothing about the person.
 */
export type Reveal = 'found' | 'nothing' | 'empty' | 'not_asked'

/** One revealed e-mail or phone, in canonical form. */
export interface ContactValue {
  type: ContactType
  value: string
  isVerified: boolean
  /** For phones only. Undefined where neither the service nor the number shows it. */
  kind?: 'mobile' | 'landline'
}

export interface ContactReading {
  reveal: Reveal
  /** In the order of the answer, without invalid values and values known to be dead. */
  values: ContactValue[]
  /**
   * True where the answer is known to have cost nothing. "Not found" at no cost is also what the service returns for an
   * unknown type, which is why types are checked before anything is sent.
   */
  wasFree?: boolean
}

/** Reads a redemption of one type. The fact keeps the statuses, types and order of everything revealed. */
export function readRedemption(type: ContactType, fact: Fact): ContactReading {
  const free = fact.priceAtomic === undefined ? {} : { wasFree: fact.priceAtomic === 0n }
  if (fact.data === null)
    return { reveal: fact.outcome === 'not_found' ? 'nothing' : 'not_asked', values: [], ...free }
  const list = fact.data[type === 'phone' ? 'phones' : 'emails']
  return { reveal: revealOf(list), values: readList(list, type), ...free }
}

/** Reads the contacts that a contact lookup's match reveals without a redemption. */
export function readMatchContacts(data: Record<string, unknown>): ContactValue[] {
  return [...readList(data['emails'], undefined), ...readList(data['phones'], 'phone')]
}

/**
 * Picks one value per field, so that as many of the revealed values as possible have a place
 * (docs/decisions/0006-several-values.md). E-mails: the first verified one of the type, else the first. Phones:
 * `mobile_phone` is the best mobile, and `phone` the best number that is none, else the mobile again. Where the record has no
 * use for `mobile_phone`, `phone` is the best number of all, a mobile before the others. Verified ones come first.
 */
export function chooseContacts(
  values: readonly ContactValue[],
  { usesMobile = true }: { usesMobile?: boolean } = {},
): Record<string, FieldValue> {
  const phones = of(values, 'phone').toSorted((a, b) => phoneRank(a) - phoneRank(b))
  const mobile = phones.find(({ kind }) => kind === 'mobile')
  const other = usesMobile ? phones.find(({ kind }) => kind !== 'mobile') : undefined
  const chosen = {
    email: firstVerified(of(values, 'email-work')),
    email_personal: firstVerified(of(values, 'email-personal')),
    phone: other ?? phones[0],
    mobile_phone: mobile,
  }
  return Object.fromEntries(
    Object.entries(chosen).flatMap(([field, value]) => (value ? [[field, value.value]] : [])),
  )
}

/**
 * Returns why contacts of these lists are not used, by the field that they would fill. A contact that is known to be dead is
 * left out without a word.
 */
export function contactFaults(data: Record<string, unknown> | null | undefined): Record<string, string> {
  const isBroken = (list: unknown, asked: ContactType | undefined) =>
    Array.isArray(list) &&
    list.some(
      (entry) =>
        text(entry, 'value') !== '' &&
        !dead.test(text(entry, 'status')) &&
        readValue(entry, asked) === undefined,
    )
  return {
    ...(isBroken(data?.['emails'], undefined) ? { email: 'it is not an e-mail address' } : {}),
    ...(isBroken(data?.['phones'], 'phone') ? { phone: 'it is not a phone number' } : {}),
  }
}

function revealOf(list: unknown): Reveal {
  if (list === undefined) return 'not_asked'
  if (!Array.isArray(list)) return 'nothing'
  return list.some((entry) => text(entry, 'value') !== '') ? 'found' : 'empty'
}

function readList(list: unknown, asked: ContactType | undefined): ContactValue[] {
  if (!Array.isArray(list)) return []
  return list.flatMap((entry) => readValue(entry, asked) ?? [])
}

/** Words by which a service says that an address or number is dead. */
const dead = /invalid|bounce|undeliverable|disconnected|do[ _-]?not|dnc|disposable/i

function readValue(entry: unknown, asked: ContactType | undefined): ContactValue | undefined {
  const status = text(entry, 'status')
  if (dead.test(status)) return undefined
  const isVerified = /^(verified|valid|deliverable)$/i.test(status)
  if (asked === 'phone') {
    const value = phoneWithExtension(text(entry, 'value'))
    if (value === undefined) return undefined
    const kind = kindOf(text(entry, 'type')) ?? phoneKind(value)
    return { type: 'phone', value, isVerified, ...(kind ? { kind } : {}) }
  }
  const email = canonicalEmail(text(entry, 'value'))
  if (!email.ok) return undefined
  return { type: emailType(text(entry, 'type'), asked, email.value), value: email.value, isVerified }
}

function emailType(stated: string, asked: ContactType | undefined, email: string): ContactType {
  if (isContactType(stated) && stated !== 'phone') return stated
  if (/personal|private/i.test(stated)) return 'email-personal'
  if (/work|business|professional|corporate/i.test(stated)) return 'email-work'
  if (asked) return asked
  return isPersonalMailDomain(email.slice(email.lastIndexOf('@') + 1)) ? 'email-personal' : 'email-work'
}

function kindOf(stated: string): ContactValue['kind'] {
  if (/mobile|cell/i.test(stated)) return 'mobile'
  return /land|fixed|office|work|direct|hq|switchboard|home/i.test(stated) ? 'landline' : undefined
}

function of(values: readonly ContactValue[], type: ContactType): ContactValue[] {
  return values.filter((value) => value.type === type)
}

function firstVerified(values: readonly ContactValue[]): ContactValue | undefined {
  return values.find(({ isVerified }) => isVerified) ?? values[0]
}

/** Ranks a number of unknown kind between mobiles and landlines. */
function phoneRank({ kind, isVerified }: ContactValue): number {
  return (kind === 'mobile' ? 0 : kind === undefined ? 2 : 4) + (isVerified ? 0 : 1)
}

function text(entry: unknown, name: string): string {
  const value =
    typeof entry === 'object' && entry !== null ? (entry as Record<string, unknown>)[name] : undefined
  return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : ''
}
