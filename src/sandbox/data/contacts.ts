import type { ContactType } from '../../service/schema/contact.ts'
import { createDice, type Dice } from '../random.ts'
import { DIRECTORY_SIZE, member, memberOfSlug, membersNamed, type Member } from './directory.ts'
import { personAnswer } from './person.ts'

export interface Email {
  value: string
  type: 'work' | 'personal'
  status: 'Verified' | null
}

export interface Phone {
  /** In E.164. */
  value: string
  type: 'mobile' | 'landline'
  status: 'Verified' | null
}

export interface Contacts {
  /** In the order in which the service returns them: the best is not always first. */
  emails: Email[]
  phones: Phone[]
}

export const personUrl = (slug: string) => `https://www.profnet.example/in/${encodeURIComponent(slug)}`

/**
 * Returns all e-mails and phones that the service has of a person, by the slug of the profile. The lists are empty for
 * one in ten of the known people, and for all unknown people.
 */
export function contactsOf(slug: string): Contacts {
  const { data } = personAnswer(personUrl(slug))
  const dice = createDice(`contacts ${slug}`)
  if (data === null || dice.percent(10)) return { emails: [], phones: [] }
  const known = memberOfSlug(slug)
  const employer = data.company?.profnet_name
  const domain =
    known?.employer.domain ?? (employer === null || employer === undefined ? null : `${employer}.example`)
  return { emails: emailsOf(slug, known, domain, dice), phones: phonesOf(known, dice) }
}

/** Returns the requested types as the service answers them: null where nothing is found, absent where not asked. */
export function revealed(
  slug: string,
  types: readonly ContactType[],
): { emails?: Email[] | null; phones?: Phone[] | null } {
  const contacts = contactsOf(slug)
  const emails = contacts.emails.filter(({ type }) => types.includes(`email-${type}`))
  const asksEmails = types.some((type) => type !== 'phone')
  return {
    ...(asksEmails && { emails: emails.length > 0 ? emails : null }),
    ...(types.includes('phone') && { phones: contacts.phones.length > 0 ? contacts.phones : null }),
  }
}

/** Returns each requested type that has a value, once: a redemption is charged for these. */
export function returnedTypes(slug: string, types: readonly ContactType[]): ContactType[] {
  const { emails, phones } = contactsOf(slug)
  return types.filter((type, at) => {
    if (types.indexOf(type) !== at) return false
    return type === 'phone' ? phones.length > 0 : emails.some((email) => `email-${email.type}` === type)
  })
}

/** Returns the slug of the person with this e-mail; null if there is none. */
export function slugOfEmail(email: string): string | null {
  const [local = '', host = ''] = email.split('@')
  const candidates = [local.replaceAll('.', '-')]
  const [given = '', family = ''] = local.split('.')
  for (const each of membersNamed(given, family))
    if (each.employer.domain === host) candidates.push(each.slug)
  return candidates.find((slug) => contactsOf(slug).emails.some(({ value }) => value === email)) ?? null
}

/**
 * Returns the slug of the member with this phone, by its digits; null if there is none. Only the phones of members can
 * be searched.
 */
export function slugOfPhone(digits: string): string | null {
  for (const { prefix } of plans) {
    if (!digits.startsWith(prefix)) continue
    const index = indexOfCode(digits.slice(prefix.length))
    if (index === null) continue
    const { slug } = member(index)
    if (contactsOf(slug).phones.some(({ value }) => value === `+${digits}`)) return slug
  }
  return null
}

function emailsOf(slug: string, known: Member | null, domain: string | null, dice: Dice): Email[] {
  // Letters and digits only: no address can be made of a slug in another script.
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(slug)) return []
  const local = slug.replaceAll('-', '.')
  const short = known === null ? local : local.replace(/\.\d+$/, '')
  const status = (share: number) => (dice.percent(share) ? 'Verified' : null)
  const all: Email[] = []
  if (dice.percent(30)) all.push({ value: `${local}@mail.example`, type: 'personal', status: status(50) })
  const [current, former] = [dice.percent(80), dice.percent(25)]
  if (current && domain !== null) {
    all.push({ value: `${short}@${domain}`, type: 'work', status: status(70) })
  }
  // The address before the last change of the naming scheme.
  if (former && domain !== null) {
    all.push({ value: `${local}@old.${domain}`, type: 'work', status: status(40) })
  }
  if (dice.percent(25)) all.push({ value: `${local}@post.example`, type: 'personal', status: status(50) })
  return dice.percent(30) ? all.reverse() : all
}

/** Phone numbers of people who do not exist: six more digits follow each prefix. */
const plans = [
  { prefix: '4915121', type: 'mobile' },
  { prefix: '4989230', type: 'landline' },
  { prefix: '447400', type: 'mobile' },
  { prefix: '441132', type: 'landline' },
  { prefix: '33612', type: 'mobile' },
  { prefix: '33472', type: 'landline' },
  { prefix: '15124', type: 'mobile' },
  { prefix: '16144', type: 'landline' },
] as const

function phonesOf(known: Member | null, dice: Dice): Phone[] {
  const code = codeOf(known?.index ?? dice.integer(0, DIRECTORY_SIZE - 1))
  const country = dice.integer(0, plans.length / 2 - 1) * 2
  const [mobile, landline] = [plans[country]!, plans[country + 1]!].map(({ prefix, type }): Phone => ({
    value: `+${prefix}${code}`,
    type,
    status: dice.percent(60) ? 'Verified' : null,
  }))
  return dice.pick([[], [mobile!], [landline!], [landline!, mobile!], [mobile!, landline!]])
}

function codeOf(index: number) {
  return String(200_000 + index * 83)
}

function indexOfCode(code: string): number | null {
  const index = (Number(code) - 200_000) / 83
  return /^\d{6}$/.test(code) && Number.isInteger(index) && index >= 0 && index < DIRECTORY_SIZE
    ? index
    : null
}
