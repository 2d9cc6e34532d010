import type { RecordIdentity } from '../subjects/record-identities.ts'
import { identityText, type Judgement, type MatchedRecord, type ReviewAnswer } from './judged-row.ts'
import { keyText } from './list-draft.ts'
import type { ListRow } from './list-row.ts'

/** An answer, as far as it decides over a row. */
export interface RowAnswer {
  answer: ReviewAnswer
  /** The record that the row is. Null: the answer is another, or that record is gone. */
  record: MatchedRecord | null
  /** The records that the row is not, for `new`, and `anotherRow`: those that were shown when the answer was given. */
  shown: readonly string[]
}

/** Stands among the records that were shown for an earlier row of the list with the same domain. */
export const anotherRow = 'row'

/** The identities that one record of a CRM has alone. A record found by one of them is not another, whatever a person said. */
const surest: ReadonlySet<string> = new Set(['profile', 'service_id', 'email'])

/**
 * Returns the names under which an answer about a row is kept, and found again for the same row of this or another list, the best
 * first. They are its profile, service id and e-mail, a domain only where it has no profile, and else the id of its search.
 */
export function answerNames(row: ListRow, search: string): string[] {
  const hasProfile = row.identities.some(({ kind }) => kind === 'profile')
  const names = row.identities
    .filter(({ kind }) => surest.has(kind) || (kind === 'domain' && !hasProfile))
    .map(identityText)
  const best = keyText(row.identities)
  const all = best !== undefined && names.includes(best) ? [best, ...names] : names
  return all.length > 0 ? [...new Set(all)] : [`row|${search}|${row.serviceId ?? ''}`]
}

/** Returns whether a person may call a row new: not while a record has its profile, service id or e-mail. */
export function mayBeNew(
  row: ListRow,
  recordsWith: (identity: RecordIdentity) => readonly MatchedRecord[],
): boolean {
  return !row.identities.some((each) => surest.has(each.kind) && recordsWith(each).length > 0)
}

/**
 * Returns the verdict on a row once a person has answered. `never` holds whatever comes. A record that was found for certain (`exists`)
 * stands over `same` and `new`. `same` holds only while that record is there, and `new` only while every record that is like the row
 * was shown to the person, and none has its profile, service id or e-mail. In doubt the row waits again.
 */
export function withAnswer(
  own: Judgement,
  given: RowAnswer | undefined,
  { canBeNew, incomplete }: { canBeNew: boolean; incomplete: () => Judgement | undefined },
): Judgement {
  if (given === undefined) return own
  const { answer, record, shown } = given
  if (answer === 'never')
    return {
      verdict: 'excluded',
      reason: 'a person said that it never becomes a record',
      records: [],
      answer,
    }
  if (own.verdict === 'exists') return own
  const waits = own.verdict === 'ambiguous' || own.verdict === 'possible'
  if (answer === 'same') {
    if (record)
      return { verdict: 'exists', reason: 'a person said that it is this record', records: [record], answer }
    const reason = 'a person said which record it is, and that record is gone'
    return waits ? own : { verdict: 'ambiguous', reason, records: [] }
  }
  if (!waits || !canBeNew || !own.records.every(({ recordId }) => shown.includes(recordId))) return own
  return incomplete() ?? newByAnswer()
}

export function newByAnswer(): Judgement {
  const reason = 'a person said that it is none of the records like it'
  return { verdict: 'new', reason, records: [], answer: 'new' }
}

/** Returns the one answer of several that were given about the names of a row. Undefined: there is none, or they differ. */
export function agreedAnswer(answers: readonly RowAnswer[]): RowAnswer | undefined {
  const never = answers.find(({ answer }) => answer === 'never')
  if (never) return never
  const [first, ...others] = answers
  if (!first) return undefined
  const isSame = ({ answer, record }: RowAnswer): boolean =>
    answer === first.answer && record?.recordId === first.record?.recordId
  if (!others.every(isSame)) return undefined
  // A record that one of the answers was not shown was not seen by its person.
  return { ...first, shown: first.shown.filter((id) => others.every(({ shown }) => shown.includes(id))) }
}
