import { sql } from 'kysely'
import type { RecordName, RecordTimeline, TimelineLookup } from '../../http/desk/story.ts'
import { parseUsd } from '../../domain/money.ts'
import type { Context } from '../context/context.ts'
import { historyOf } from '../records/history.ts'

/** A record's history, and the lookups behind it with every attempt to pay for them. */
export async function timelineOf(
  context: Pick<Context, 'database' | 'fieldWrites'>,
  name: RecordName,
): Promise<RecordTimeline> {
  const [history, { rows: steps }] = await Promise.all([
    historyOf(context, name),
    sql<{ run: string; lookups: string[] }>`
      select run_id as run, array_remove(steps || waiting_for || lookup_key, null) as lookups
      from tasks join runs on runs.id = tasks.run_id
      where record_id = ${name.id} and runs.connector = ${name.connector}
        and (runs.object = ${name.object} or runs.entity = ${name.object}) and runs.state != 'planned'
      order by tasks.id`.execute(context.database.db),
  ])
  const keys = [
    ...new Set([
      ...steps.flatMap(({ lookups }) => lookups),
      ...history.fields.flatMap(({ lookup }) => lookup ?? []),
    ]),
  ]
  return {
    ...name,
    tasks: history.tasks.map((task) => ({
      ...task,
      lookups: steps.find(({ run }) => run === task.run)?.lookups ?? [],
    })),
    lookups: await lookupsOf(context, keys),
    fields: history.fields.map(({ price, ...field }) => ({ ...field, priceAtomic: parseUsd(price) })),
  }
}

/** In the order in which they were asked for. */
async function lookupsOf({ database }: Pick<Context, 'database'>, keys: string[]): Promise<TimelineLookup[]> {
  if (keys.length === 0) return []
  const { db } = database
  const { rows: lookups } = await sql<Omit<TimelineLookup, 'charges'>>`
    select key, operation, state, outcome, answered_at as "answeredAt", fresh_until as "freshUntil"
    from lookups where key = any(${keys})`.execute(db)
  const { rows: charges } = await sql<TimelineLookup['charges'][number] & { key: string }>`
    select lookup_key as key, id, run_id as run, state, amount_atomic as "amountAtomic", currency, created_at as at, transaction
    from charges where lookup_key = any(${keys}) order by attempt`.execute(db)
  return lookups
    .sort((a, b) => keys.indexOf(a.key) - keys.indexOf(b.key))
    .map((lookup) => ({ ...lookup, charges: charges.filter(({ key }) => key === lookup.key) }))
}
