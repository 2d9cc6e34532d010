import type { Fact } from '../../domain/record.ts'
import { redeemedSchema, type ContactValue, type Redeemed } from '../schema/contact.ts'
import { objectOf, peoplesOf } from './peoples.ts'

/**
 * The result for one kind of requested contact data. `nothing_found` is the service's null. `empty` is its `[]`, which
 * is read as nothing found and counted. `not_asked` says nothing about the person.
 */
type Reveal = 'found' | 'nothing_found' | 'empty' | 'not_asked'

export interface RedeemedPerson {
  raw: unknown
  id: string | undefined
  fact: Fact
}

/** Returns the people of a redemption's answer, or undefined when it holds no list of them. */
export function readRedeemed(body: string): RedeemedPerson[] | undefined {
  const answer = objectOf(body)
  const peoples = answer && peoplesOf(answer)
  return peoples?.map((raw) => {
    const checked = redeemedSchema.safeParse(raw)
    if (checked.success)
      return { raw, id: checked.data.people_search_id ?? undefined, fact: factOf(checked.data) }
    const problem = checked.error.issues[0]?.message ?? ''
    return {
      raw,
      id: idOf(raw),
      fact: { outcome: 'unreadable', data: { raw: JSON.stringify(raw), problem } },
    }
  })
}

/**
 * Returns a person's fact, with order, type and status of every e-mail and phone, and with the meaning of each null in
 * `revealed`.
 */
function factOf(person: Redeemed): Fact {
  const emails = person.emails?.flatMap(valued).map((each) => ({ ...each, type: emailType(each.type) }))
  const phones = person.phones?.flatMap(valued)
  const revealed = { emails: revealOf(person.emails, emails), phones: revealOf(person.phones, phones) }
  const data = { ...person, ...(emails && { emails }), ...(phones && { phones }), revealed }
  const states = Object.values(revealed)
  if (states.includes('found')) return { outcome: 'found', data }
  if (states.every((state) => state === 'not_asked')) {
    const problem = 'the answer holds neither emails nor phones'
    return { outcome: 'unreadable', data: { raw: JSON.stringify(person), problem } }
  }
  return { outcome: 'not_found', data }
}

function revealOf(
  raw: readonly ContactValue[] | null | undefined,
  values: readonly unknown[] | undefined,
): Reveal {
  if (raw === undefined) return 'not_asked'
  if (raw === null) return 'nothing_found'
  return values && values.length > 0 ? 'found' : 'empty'
}

function valued(value: ContactValue): ContactValue[] {
  return value.value?.trim() ? [value] : []
}

/** `work` and `email-work` mean the same. From here on only the words of the vocabulary are used. */
function emailType(type: string | null | undefined): string | null | undefined {
  return type === 'work' || type === 'personal' ? `email-${type}` : type
}

function idOf(raw: unknown): string | undefined {
  const id = (raw as { people_search_id?: unknown } | null)?.people_search_id
  return typeof id === 'string' || typeof id === 'number' ? String(id) : undefined
}
