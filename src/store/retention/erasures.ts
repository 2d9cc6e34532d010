import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { erasureRules, type ErasureRule, type RetentionGroup } from './rules.ts'

/** The advisory lock of the one process that erases. The number is arbitrary, and the same in every process. */
const lockId = 8_214_007_301

/** A setting for each group: the days that its rows are kept; undefined: for ever. */
type KeptDays = Readonly<Record<RetentionGroup, number | undefined>>

interface EraseOptions {
  days: KeptDays
  now: Date
  token: () => string
  pageSize: number
}

const dayMs = 86_400_000
const timeBefore = (now: Date, days: number) => new Date(now.getTime() - days * dayMs)

/**
 * Erases what is due, batch by batch, and returns the number of rows.
 *
 * Crash windows: a batch and its count in the report are one transaction. Killed before its commit, neither is there, and the next round
 * erases it; after it, both are. Two processes never erase at once: the lock is taken a batch at a time, and who does not get it stops.
 */
export async function eraseDue(db: Database, { days, now, token, pageSize }: EraseOptions): Promise<number> {
  let erased = 0
  for (const rule of erasureRules) {
    const kept = days[rule.group]
    if (kept === undefined) continue
    const before = timeBefore(now, kept)
    for (let count = pageSize; count >= pageSize; erased += count) {
      const batch = await eraseBatch(db, rule, { before, now, token, pageSize })
      if (batch === undefined) return erased
      count = batch
    }
  }
  return erased
}

/** Returns undefined where another process erases. */
async function eraseBatch(
  db: Database,
  rule: ErasureRule,
  { before, now, token, pageSize }: Omit<EraseOptions, 'days'> & { before: Date },
): Promise<number | undefined> {
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ got: boolean }>`
      select pg_try_advisory_xact_lock(${sql.lit(lockId)}) as got`.execute(tx)
    if (!rows[0]?.got) return undefined
    const count = await rule.erase(tx, before, pageSize, { now, token })
    if (count > 0)
      await sql`
        insert into erasures as kept (name, older_than, began_at, ended_at, rows)
        values (${rule.name}, ${before}, ${now}, ${now}, ${count})
        on conflict (name, began_at) do update set rows = kept.rows + excluded.rows,
          ended_at = greatest(kept.ended_at, excluded.ended_at)`.execute(tx)
    return count
  })
}

export interface RetainedRows {
  name: string
  table: string
  group: RetentionGroup
  days: number | null
  oldest: string | null
  /** Rows that the next round erases. */
  due: number
  erased: number
  lastErased: string | null
}

/** Returns for each rule its oldest row, the rows that are due, and what was erased so far. */
export async function readRetention(
  db: Database,
  { days, now }: Pick<EraseOptions, 'days' | 'now'>,
): Promise<RetainedRows[]> {
  const { rows: done } = await sql<{ name: string; erased: string; last: Date }>`
    select name, sum(rows)::text as erased, max(ended_at) as last from erasures group by name`.execute(db)
  const report: RetainedRows[] = []
  for (const { name, table, group, age, due } of erasureRules) {
    const kept = days[group]
    const isDue = kept === undefined ? sql`false` : due(timeBefore(now, kept))
    const { rows } = await sql<{ oldest: Date | null; due: number }>`
      select min(${sql.raw(age)}) as oldest, (select count(*)::int from ${sql.table(table)} where ${isDue}) as due
      from ${sql.table(table)}`.execute(db)
    const past = done.find((row) => row.name === name)
    report.push({
      name,
      table,
      group,
      days: kept ?? null,
      oldest: rows[0]?.oldest?.toISOString() ?? null,
      due: rows[0]?.due ?? 0,
      erased: Number(past?.erased ?? 0),
      lastErased: past?.last.toISOString() ?? null,
    })
  }
  return report
}

export interface Erasure {
  name: string
  rows: number
  olderThan: string
  at: string
}

/** Returns the latest rounds in which something was erased, newest first. */
export async function listErasures(db: Database, limit: number): Promise<Erasure[]> {
  const rows = await db.selectFrom('erasures').selectAll().orderBy('id', 'desc').limit(limit).execute()
  return rows.map((row) => ({
    name: row.name,
    rows: Number(row.rows),
    olderThan: row.older_than.toISOString(),
    at: row.ended_at.toISOString(),
  }))
}
