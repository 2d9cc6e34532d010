import { sql } from 'kysely'
import type { Atomic } from '../../domain/money.ts'
import type { Currency } from '../../domain/payment.ts'
import type { FieldValue, Patch } from '../../domain/record.ts'
import type { TaskStatus } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'
import { ofTasks, withOpenIntents } from '../writes/open-intents.ts'
import type { FieldWriteState } from '../database/tables/states.ts'

/** A record of a run, with what was written into it and what its lookups cost in this run. */
export interface ExportedRecord {
  task: bigint
  ordinal: number
  recordId: string
  status: TaskStatus
  reason: string | null
  /** The place of the record whose lookup also serves this one. */
  duplicateOf: number | null
  updatedAt: Date
  /** Settled, without what a duplicate shares with an earlier record. */
  usdAtomic: Atomic
  creditsAtomic: Atomic
  /** The values of a file, whose cells before are in the file itself. */
  patch: Patch | null
  fields: {
    field: string
    /** null: it was blank. */
    old: FieldValue | null
    /** null: the subject was forgotten. */
    new: FieldValue | null
    state: FieldWriteState
    lookup: string | null
    priceAtomic: Atomic
    currency: Currency | null
  }[]
}

/** Returns up to `limit` records of a run after this place, in the order in which they were read. */
export async function exportedRecords(
  db: Database,
  runId: string,
  { after, limit }: { after: number; limit: number },
): Promise<ExportedRecord[]> {
  const { rows } = await sql<Omit<ExportedRecord, 'fields'>>`
    with page as (
      select * from tasks where run_id = ${runId} and ordinal > ${after} order by ordinal limit ${limit}
    ), paid as (
      select lookup_key, sum(amount_atomic) filter (where currency = 'USD') as usd,
        sum(amount_atomic) filter (where currency = 'credit') as credits
      from charge_shares where run_id = ${runId} and state = 'settled'
        and lookup_key in (select unnest(steps) from page) group by lookup_key
    )
    select page.id as task, ordinal, record_id as "recordId", status, reason, duplicate_of as "duplicateOf",
      updated_at as "updatedAt", case when status = 'written' then patch end as patch,
      coalesce(sum(usd) filter (where duplicate_of is null), 0)::bigint as "usdAtomic",
      coalesce(sum(credits) filter (where duplicate_of is null), 0)::bigint as "creditsAtomic"
    from page left join paid on paid.lookup_key = any(page.steps)
    group by page.id, ordinal, record_id, status, reason, duplicate_of, updated_at, patch order by ordinal`.execute(
    db,
  )
  if (rows.length === 0) return []
  const tasks = rows.map(({ task }) => task)
  const readWrites = () =>
    db
      .selectFrom('field_writes')
      .select([
        'task_id',
        'field',
        'old_value',
        'new_value',
        'state',
        'lookup_key',
        'price_atomic',
        'currency',
      ])
      .where(sql<boolean>`task_id = any(${tasks.map(String)}::bigint[])`)
      .orderBy('id')
      .execute()
  const byTask = Map.groupBy(await withOpenIntents(db, ofTasks(tasks), readWrites), (row) => row.task_id)
  return rows.map((row) => ({
    ...row,
    fields: (byTask.get(row.task) ?? []).map((write) => ({
      field: write.field,
      old: write.old_value,
      new: write.new_value,
      state: write.state,
      lookup: write.lookup_key,
      priceAtomic: write.price_atomic,
      currency: write.currency,
    })),
  }))
}
