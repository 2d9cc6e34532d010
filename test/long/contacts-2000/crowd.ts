import { contactsOf, personUrl } from '../../../src/sandbox/data/contacts.ts'
import { member, type Member } from '../../../src/sandbox/data/directory.ts'
import { createDice, type Dice } from '../../../src/sandbox/random.ts'
import { writtenAs } from '../../support/spellings.ts'

/** A row of the file, by column. Blank is ''. */
export interface Row {
  id: string
  profnet_url: string
  email: string
  phone: string
  first_name: string
  last_name: string
  domain: string
  company: string
}

export interface Mark {
  kind: 'email' | 'phone' | 'profile_url' | 'domain'
  value: string
}

export interface Crowd {
  rows: Row[]
  /** The people to be left alone: one mark for each person, in the form in which people are named best. */
  suppressed: Mark[]
}

const columns = [
  'id',
  'profnet_url',
  'email',
  'phone',
  'first_name',
  'last_name',
  'domain',
  'company',
] as const

/**
 * A file of people as CRMs have them: 85 in a hundred rows are people of their own, of whom 30 in a hundred have no profile
 * URL; the rest are the same again in other spelling. One in twenty of the rows is of somebody who is suppressed.
 */
export function makeCrowd(size: number, seed: number): Crowd {
  const dice = createDice(`crowd ${seed}`)
  const distinct = Math.round(size * 0.85)
  const people = Array.from({ length: distinct }, (_, index) => {
    const one = member(index)
    return { one, row: index % 10 < 7 ? withUrl(one, dice) : withoutUrl(one, index) }
  })
  const rows: Row[] = people.map(({ row }) => row)
  for (let again = distinct; again < size; again += 1) {
    // Anywhere behind the row that it repeats.
    const from = dice.integer(0, distinct - 1)
    rows.splice(
      dice.integer(rows.indexOf(people[from]!.row) + 1, rows.length),
      0,
      respelt(people[from]!.row, dice),
    )
  }
  rows.forEach((row, index) => (row.id = String(index + 1)))
  const suppressed = people
    .filter((_, index) => index % 41 === 3 || index % 41 === 19)
    .map(({ one, row }): Mark => {
      if (row.profnet_url !== '' && row.email !== '') return { kind: 'email', value: row.email.toUpperCase() }
      if (row.phone !== '') return { kind: 'phone', value: row.phone }
      // Also of those whose row does not say so: it shows when they are found.
      return { kind: 'profile_url', value: writtenAs(one.index, 'in', one.slug).trim() }
    })
  return { rows, suppressed }
}

export function toCsv(rows: readonly Row[]): string {
  return `${[columns.join(','), ...rows.map((row) => columns.map((name) => quoted(row[name])).join(','))].join('\n')}\n`
}

const blank = {
  id: '',
  profnet_url: '',
  email: '',
  phone: '',
  first_name: '',
  last_name: '',
  domain: '',
  company: '',
}

/** Adds the URL that the CRM has besides, which decides what is left to ask for. */
function withUrl(one: Member, dice: Dice): Row {
  const fill = dice.integer(1, 10)
  return {
    ...blank,
    profnet_url: personUrl(one.slug),
    first_name: one.firstName,
    last_name: one.lastName,
    email: fill <= 8 ? (workEmail(one) ?? `${one.index}@crm.example`) : '',
    phone: fill <= 7 || fill === 9 ? (phone(one) ?? `+49309${1_000_000 + one.index}`) : '',
  }
}

function withoutUrl(one: Member, index: number): Row {
  const [email, number] = [workEmail(one), phone(one)]
  const way = Math.floor(index / 10) % 5
  if (way === 0 && email) return { ...blank, email, first_name: one.firstName }
  if (way === 1 && number) return { ...blank, phone: number, last_name: one.lastName }
  // A few can be found by nothing.
  if (way === 2 && index % 10 === 9)
    return { ...blank, first_name: one.firstName, domain: one.employer.domain }
  const named = { ...blank, first_name: one.firstName, last_name: one.lastName }
  return way < 4 ? { ...named, domain: one.employer.domain } : { ...named, company: one.employer.name }
}

function respelt(row: Row, dice: Dice): Row {
  const slug = decodeURIComponent(row.profnet_url.split('/in/')[1] ?? '')
  return {
    ...row,
    profnet_url: slug === '' ? '' : writtenAs(dice.integer(1, 5), 'in', slug).trim(),
    email:
      row.email === '' ? '' : dice.pick([row.email.toUpperCase(), `<${row.email}>`, `mailto:${row.email}`]),
    phone: row.phone === '' ? '' : dice.pick([spaced(row.phone), `00${row.phone.slice(1)}`]),
    first_name: row.first_name.toLocaleUpperCase('en'),
    last_name: row.last_name.normalize('NFD'),
    domain:
      row.domain === '' ? '' : dice.pick([`https://www.${row.domain}/about?x=1`, row.domain.toUpperCase()]),
    company:
      row.company === '' ? '' : dice.pick([`${row.company}, Inc.`, `${row.company.toUpperCase()} GmbH`]),
  }
}

function workEmail({ slug }: Member): string | undefined {
  return contactsOf(slug).emails.find(({ type }) => type === 'work')?.value
}

function phone({ slug }: Member): string | undefined {
  return contactsOf(slug).phones[0]?.value
}

function spaced(number: string): string {
  return `${number.slice(0, 3)} ${number.slice(3, 6)} ${number.slice(6)}`
}

function quoted(cell: string): string {
  return /[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}
