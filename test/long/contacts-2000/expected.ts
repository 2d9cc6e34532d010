import { contactsOf, personUrl, returnedTypes } from '../../../src/sandbox/data/contacts.ts'
import { inputKey, isSearchable, searchContact } from '../../../src/sandbox/data/contact-search.ts'
import { contactAnswer } from '../../../src/sandbox/data/contact-answer.ts'
import { foldEmail, foldPhone } from '../../../src/sandbox/data/fold.ts'
import { personAnswer } from '../../../src/sandbox/data/person.ts'
import { profileKey } from '../../../src/sandbox/data/profile-url.ts'
import type { Mark, Row } from './crowd.ts'

// The expected results of a file of people, from the service's own data and the documents alone: nothing of the pipeline is
// used here, so that a mistake of its planner, keys or ledger cannot agree with itself.

/** Columns that the recipe fills, under their names in the output. */
export const filledColumns = {
  full_name: 'full_name',
  profnet_url: 'paydirt_profnet_url',
  headline: 'headline',
  job_title: 'job_title',
  company_name: 'company_name',
  city: 'city',
  country_code: 'country_code',
  email: 'paydirt_email',
  phone: 'paydirt_phone',
  mobile_phone: 'mobile_phone',
} as const
type Field = keyof typeof filledColumns

export type Paid = 'contact.lookup' | 'person.profile' | 'email-work' | 'phone'

export interface Expected {
  rows: { status: 'written' | 'unchanged' | 'skipped'; values: Partial<Record<Field, string>> }[]
  /** The number of each purchase: once for each person, however often and however written they are asked for. */
  bought: Record<Paid, number>
  /** In credits of 0.01 USD: paid by challenge, which is for a fixed amount, found or not. */
  challenged: Record<Paid, number>
  /** In credits, with direct access: what was found. */
  credited: Record<Paid, number>
  /** First lookups of rows. */
  unique: number
  notFound: number
  duplicates: number
  filled: Record<Field, number>
}

const price: Record<Paid, number> = { 'contact.lookup': 1, 'person.profile': 1, 'email-work': 15, phone: 30 }

export function expectedOf(rows: readonly Row[], suppressed: readonly Mark[]): Expected {
  const bought: Record<Paid, Map<string, number>> = {
    'contact.lookup': new Map(),
    'person.profile': new Map(),
    'email-work': new Map(),
    phone: new Map(),
  }
  const firsts = new Map<string, boolean>()
  let duplicates = 0
  const isSuppressed = listOf(suppressed)

  const ended = rows.map((row): Expected['rows'][number] => {
    const skipped = { status: 'skipped' as const, values: {} }
    const url = row.profnet_url === '' ? undefined : profileOf(row.profnet_url)
    const email = row.email === '' ? undefined : plainEmail(row.email)
    const marks = [
      ...(url ? [`profile_url ${url}`] : []),
      ...(email ? [`email ${email}`, `domain ${siteOf(email.split('@')[1] ?? '')}`] : []),
      ...(row.phone === '' ? [] : [`phone ${foldPhone(row.phone)}`]),
      ...(row.domain === '' ? [] : [`domain ${siteOf(row.domain)}`]),
    ]
    if (isSuppressed(marks)) return skipped

    const entry = entryOf(row, email)
    if (!url && !isSearchable(entry)) return skipped
    const first = url ?? inputKey(entry)
    if (firsts.has(first)) duplicates += 1

    let slug = url?.slice('in/'.length)
    let values: Partial<Record<Field, string>> = {}
    if (slug === undefined) {
      const found = searchContact(entry, false)
      bought['contact.lookup'].set(first, found ? 1 : 0)
      firsts.set(first, found !== null)
      if (!found) return { status: 'unchanged', values: {} }
      slug = found.slug
      const match = contactAnswer(found, { index: 0, isDuplicate: false })
      values = given({
        full_name: match.name,
        profnet_url: match.profnet_url,
        job_title: match.title,
        company_name: match.company_name,
      })
      // The match may name a person who is to be left alone.
      if (isSuppressed([`profile_url in/${slug}`])) return skipped
    }
    const { data } = personAnswer(personUrl(slug))
    bought['person.profile'].set(slug, 1)
    if (url) firsts.set(first, data !== null)
    if (!data) return { status: 'unchanged', values: {} }
    const job = data.employment_history?.[0]
    values = {
      ...values,
      ...given({
        full_name: data.name,
        profnet_url: data.profnet_url,
        headline: data.headline,
        job_title: job?.positions?.[0]?.title ?? job?.title,
        company_name: data.company?.company_name,
        city: data.city,
        country_code: data.country_code,
      }),
    }
    const contacts = contactsOf(slug)
    if (row.email === '') {
      bought['email-work'].set(slug, returnedTypes(slug, ['email-work']).length)
      const mails = contacts.emails.filter(({ type }) => type === 'work')
      values = {
        ...values,
        ...given({ email: (mails.find(({ status }) => status === 'Verified') ?? mails[0])?.value }),
      }
    }
    if (row.phone === '') {
      bought.phone.set(slug, returnedTypes(slug, ['phone']).length)
      const mobile = contacts.phones.find(({ type }) => type === 'mobile')?.value
      values = { ...values, ...given({ phone: mobile ?? contacts.phones[0]?.value, mobile_phone: mobile }) }
    }
    const told = [
      `profile_url in/${slug}`,
      ...(values.email
        ? [`email ${values.email}`, `domain ${siteOf(values.email.split('@')[1] ?? '')}`]
        : []),
      ...[values.phone, values.mobile_phone].flatMap((number) =>
        number ? [`phone ${foldPhone(number)}`] : [],
      ),
    ]
    return isSuppressed(told) ? skipped : { status: 'written', values }
  })

  const each = (of: (paid: Paid) => number) =>
    Object.fromEntries((Object.keys(price) as Paid[]).map((paid) => [paid, of(paid)])) as Record<Paid, number>
  const found = (paid: Paid) => [...bought[paid].values()].reduce((sum, count) => sum + count, 0)
  return {
    rows: ended,
    bought: each((paid) => bought[paid].size),
    challenged: each((paid) => bought[paid].size * price[paid]),
    credited: each((paid) => found(paid) * price[paid]),
    unique: firsts.size,
    notFound: [...firsts.values()].filter((isFound) => !isFound).length,
    duplicates,
    filled: Object.fromEntries(
      (Object.keys(filledColumns) as Field[]).map((field) => [
        field,
        ended.filter(({ status, values }) => status === 'written' && values[field] !== undefined).length,
      ]),
    ) as Record<Field, number>,
  }
}

function listOf(suppressed: readonly Mark[]) {
  const list = new Set(
    suppressed.map(({ kind, value }) => {
      if (kind === 'email') return `email ${plainEmail(value)}`
      if (kind === 'phone') return `phone ${foldPhone(value)}`
      return kind === 'domain' ? `domain ${siteOf(value)}` : `profile_url ${profileOf(value)}`
    }),
  )
  return (marks: readonly string[]) => marks.some((mark) => list.has(mark))
}

function entryOf(row: Row, email: string | undefined) {
  return given({
    email,
    phone: row.phone === '' ? undefined : row.phone,
    first_name: row.first_name || undefined,
    last_name: row.last_name || undefined,
    domain: row.domain || undefined,
    company: row.company || undefined,
  })
}

/** `in/<slug>`, from an address with or without its scheme. */
function profileOf(url: string): string {
  const key = profileKey('person', /^https?:/i.test(url) ? url : `https://${url}`)
  if (key === null) throw new Error(`no profile: ${url}`)
  return key
}

function plainEmail(text: string): string {
  return foldEmail(text.replace(/^mailto:|[<>]/g, ''))
}

/** The last two labels: everything here ends in `.example`. */
function siteOf(address: string): string {
  const host = address.replace(/^[a-z]+:\/\//i, '').split('/')[0] ?? ''
  return host.toLowerCase().split('.').slice(-2).join('.')
}

function given<T extends string>(values: Record<T, string | null | undefined>): Partial<Record<T, string>> {
  return Object.fromEntries(
    Object.entries<string | null | undefined>(values).filter(
      ([, value]) => typeof value === 'string' && value !== '',
    ),
  ) as Partial<Record<T, string>>
}
