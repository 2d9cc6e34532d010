import { identityText, type JudgedRow, type MatchedRecord } from '../../../domain/lists/judged-row.ts'
import type { RecordIdentity } from '../../../domain/subjects/record-identities.ts'
import type { Verdict } from '../../../domain/words.ts'
import { knownIdentities } from '../../../store/lists/known-identities.ts'
import type { ListSettings } from '../../config/lists.ts'
import type { Context } from '../../context/context.ts'
import { reviewedObject } from '../judging/answers-to.ts'
import { rowKey } from './row-key.ts'

/** Verdicts under which a row waits for a person. */
const waits: ReadonlySet<Verdict> = new Set(['ambiguous', 'possible'])

/** A row that waits for an answer. */
export interface WaitingRow {
  key: string
  judged: JudgedRow
  /** The records that it may be, each with what the index knows of it. */
  records: (MatchedRecord & { known: readonly RecordIdentity[] })[]
}

export function isWaiting({ verdict }: Pick<JudgedRow, 'verdict'>): boolean {
  return waits.has(verdict)
}

/** Returns the rows that wait, with what is known of the records that they may be. */
export async function waitingRows(
  { database }: Pick<Context, 'database'>,
  { search, into }: Pick<ListSettings, 'search' | 'into'>,
  rows: readonly JudgedRow[],
): Promise<WaitingRow[]> {
  const waiting = rows.filter(isWaiting)
  const ids = waiting.flatMap(({ records }) => records.map(({ recordId }) => recordId))
  const known = await knownIdentities(database.db, reviewedObject(into), ids)
  return waiting.map((judged) => ({
    key: rowKey(judged.row, search),
    judged,
    records: judged.records.map((record) => ({ ...record, known: known.get(record.recordId) ?? [] })),
  }))
}

export function identityWords(known: readonly RecordIdentity[]): string {
  return known
    .filter(({ kind }) => kind !== 'name_domain' && kind !== 'phone_name')
    .map((each) => (each.kind === 'service_id' ? identityText(each) : each.value))
    .join(' · ')
}
