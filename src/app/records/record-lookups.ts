import { lookupsOfTasks, spendOnLookups } from '../../store/views/record-lookups.ts'
import type { RecordSpend } from '../../domain/planning/explain.ts'
import type { Context } from '../context/context.ts'
import { historyOf, recordMeant, type RecordHistory, type RecordName } from './history.ts'

export interface RecordLookups {
  history: RecordHistory
  /** The lookups of each run's task, those of records that were merged into this one included. */
  steps: { run: string; lookups: string[] }[]
  /** All of them, and those behind fields that were written. */
  keys: string[]
  spend: RecordSpend
}

/** Returns a record's history with the lookups behind it and what they have cost. Used by `explain` and by the desk. */
export async function lookupsOfRecord(
  context: Pick<Context, 'database' | 'fieldWrites'>,
  name: RecordName,
): Promise<RecordLookups> {
  const { db } = context.database
  const history = await historyOf(context, name)
  const steps = await lookupsOfTasks(db, recordMeant(name, history.mergedFrom))
  const keys = new Set([
    ...steps.flatMap(({ lookups }) => lookups),
    ...history.fields.flatMap(({ lookup }) => lookup ?? []),
  ])
  return { history, steps, keys: [...keys], spend: await spendOnLookups(db, [...keys]) }
}
