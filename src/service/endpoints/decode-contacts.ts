import type { Fact } from '../../domain/record.ts'
import { contactSchema, type Contact } from '../schema/contact.ts'
import { allUnreadable } from './batch-endpoint.ts'
import { foldInput, inputsOf, type ContactEntry } from './contact-entry.ts'
import { objectOf, peoplesOf } from './peoples.ts'

/**
 * Reads the answer of a contact lookup. People are assigned by `match.input_index`, never by their order. Answers of a
 * release without that field are assigned by the searched value in `match.input`. An entry that is flagged as a
 * duplicate, or that repeats an earlier one, gets the fact of the first. An entry without an answer was not found,
 * unless the answer holds people that could not be assigned: one of them may belong to it.
 */
export function decodeContacts(body: string, entries: readonly ContactEntry[]): Map<number, Fact> {
  const answer = objectOf(body)
  const peoples = answer && peoplesOf(answer)
  if (!peoples) return allUnreadable(entries.length, body, 'no list of people')

  const placed = new Map<number, Placed[]>()
  const unplaced: unknown[] = []
  for (const raw of peoples) {
    const checked = contactSchema.safeParse(raw)
    const contact = checked.success ? checked.data : undefined
    const index = indexOf(raw, contact, entries)
    if (index === undefined) unplaced.push(raw)
    else placed.set(index, [...(placed.get(index) ?? []), { raw, contact }])
  }
  const facts = new Map<number, Fact>()
  const heads = entries.map((entry) => inputsOf(entry)[0])
  for (const index of entries.keys()) {
    const own = placed.get(index)
    const first = heads.findIndex((head) => head === heads[index])
    const fact = own && factOf(own)
    if (fact) facts.set(index, fact)
    else if (first < index) facts.set(index, facts.get(first)!)
    else if (own?.some(isFlagged))
      facts.set(index, unreadable(own[0]!.raw, 'flagged as the duplicate of no entry'))
    else facts.set(index, unanswered(unplaced))
  }
  return facts
}

interface Placed {
  raw: unknown
  /** Undefined when it does not fit the schema. */
  contact: Contact | undefined
}

/** Returns undefined when nothing in the answer identifies a person for the entry. */
function factOf(placed: readonly Placed[]): Fact | undefined {
  const people = placed.flatMap(({ contact }) => (contact && isSomebody(contact) ? [contact] : []))
  const [best, ...others] = people.sort((one, other) => rank(one) - rank(other))
  if (best) {
    const otherIds = new Set(others.map(identity).filter((id) => id !== identity(best)))
    return {
      outcome: 'found',
      data: otherIds.size === 0 ? best : { ...best, other_matches: otherIds.size },
    }
  }
  const broken = placed.find(({ contact }) => !contact)
  return broken && unreadable(broken.raw, 'does not fit the schema of a contact')
}

const confidences = ['exact', 'similarity_domain', 'similarity_company']

function rank({ match }: Contact): number {
  const at = confidences.indexOf(match?.confidence ?? '')
  return at === -1 ? confidences.length : at
}

function identity(contact: Contact): string | null | undefined {
  return contact.people_search_id ?? contact.profnet_url ?? contact.name
}

function isSomebody(contact: Contact): boolean {
  const { emails, phones } = contact
  return Boolean(identity(contact)) || Boolean(emails?.length) || Boolean(phones?.length)
}

function isFlagged({ contact }: Placed): boolean {
  return contact?.match?.is_duplicate_input === true
}

function indexOf(
  raw: unknown,
  contact: Contact | undefined,
  entries: readonly ContactEntry[],
): number | undefined {
  const match = contact ? contact.match : (raw as { match?: { input_index?: unknown } } | null)?.match
  const index = match?.input_index
  if (Number.isInteger(index)) return (index as number) in entries ? (index as number) : undefined
  if (entries.length === 1) return 0
  const value = contact?.match?.input?.value
  if (!value) return undefined
  const at = entries.findIndex((entry) => inputsOf(entry).includes(foldInput(value)))
  return at === -1 ? undefined : at
}

function unanswered(unplaced: readonly unknown[]): Fact {
  if (unplaced.length === 0) return { outcome: 'not_found', data: null }
  return unreadable(unplaced, 'the answer holds people that belong to no entry')
}

function unreadable(raw: unknown, problem: string): Fact {
  return { outcome: 'unreadable', data: { raw: JSON.stringify(raw), problem } }
}
