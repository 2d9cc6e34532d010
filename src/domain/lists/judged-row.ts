import type { RecordIdentity } from '../subjects/record-identities.ts'
import type { Verdict } from '../words.ts'
import type { ListRow } from './list-row.ts'
import type { MatchedRecord } from './matched-record.ts'

export type { MatchedRecord } from './matched-record.ts'

/** The answers of a person about a row that waits: it is this record, it is none of those shown, or it never becomes one. */
export const reviewAnswers = ['same', 'new', 'never'] as const
export type ReviewAnswer = (typeof reviewAnswers)[number]

export interface JudgedRow<R extends ListRow = ListRow> {
  row: R
  /** Its place in the list, from 1. */
  ordinal: number
  verdict: Verdict
  reason: string
  /** The records that it may be. */
  records: readonly MatchedRecord[]
  /** The answer of a person, where it decided the verdict. */
  answer?: ReviewAnswer
}

export type Judgement = Omit<JudgedRow, 'row' | 'ordinal'>

export function identityText({ kind, value }: RecordIdentity): string {
  return `${kind}|${value}`
}
