import { sql } from 'kysely'
import type { Database } from '../database/database.ts'

type MeasurementSpan = 'all' | 'minute' | 'quarter'

/** A count, a sum and counts by duration, to be added to what is there. */
export interface Measurement {
  kind: 'exchange' | 'crm_call' | 'request' | 'pace' | 'written' | 'on_demand'
  name: string
  part: string
  span: MeasurementSpan
  beginsAt: Date
  count: number
  sum: number
  buckets: number[]
}

/** The time each span is kept. `all` stays: it has one row for each name and part. */
const keptMs = { minute: 3 * 3_600_000 + 600_000, quarter: 8 * 86_400_000 } as const

/**
 * Adds measurements. Several processes add to the same rows, so the rows are taken in one order. A connection that breaks
 * between the commit and its confirmation makes the caller add the same twice: these are statistics, not money.
 */
export async function addMeasurements(db: Database, added: readonly Measurement[]): Promise<void> {
  if (added.length === 0) return
  const rows = added.map(({ beginsAt, ...row }) => ({ ...row, begins_at: beginsAt }))
  await sql`
    insert into measurements (kind, name, part, span, begins_at, count, sum, buckets)
    select kind, name, part, span, begins_at, count, sum,
      coalesce(array(select value::bigint from jsonb_array_elements_text(buckets) with ordinality as of (value, place) order by place), '{}')
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as added (
      kind text, name text, part text, span text, begins_at timestamptz, count bigint, sum double precision, buckets jsonb)
    order by kind, name, part, span, begins_at
    on conflict (kind, name, part, span, begins_at) do update set
      count = measurements.count + excluded.count,
      sum = measurements.sum + excluded.sum,
      buckets = array(
        select coalesce(old, 0) + coalesce(new, 0)
        from unnest(measurements.buckets, excluded.buckets) with ordinality as both_counts (old, new, place) order by place)`.execute(
    db,
  )
}

/** Deletes minutes and quarters that no page shows any more. */
export async function deleteOldMeasurements(db: Database, now: Date): Promise<void> {
  for (const span of ['minute', 'quarter'] as const)
    await db
      .deleteFrom('measurements')
      .where('span', '=', span)
      .where('begins_at', '<', new Date(now.getTime() - keptMs[span]))
      .execute()
}

/** Returns the totals of one kind since the beginning. */
export async function measuredTotals(
  db: Database,
  kind: Measurement['kind'],
): Promise<{ name: string; part: string; count: number; sum: number; buckets: number[] }[]> {
  const rows = await db
    .selectFrom('measurements')
    .select(['name', 'part', 'count', 'sum', 'buckets'])
    .where('kind', '=', kind)
    .where('span', '=', 'all')
    .orderBy('name')
    .orderBy('part')
    .execute()
  return rows.map((row) => ({ ...row, count: Number(row.count), buckets: row.buckets.map(Number) }))
}

/** Returns what was measured from a time on, oldest first. */
export async function measuredSince(
  db: Database,
  kind: Measurement['kind'],
  span: 'minute' | 'quarter',
  from: Date,
): Promise<{ name: string; part: string; beginsAt: Date; count: number; sum: number; buckets: number[] }[]> {
  const rows = await db
    .selectFrom('measurements')
    .select(['name', 'part', 'begins_at as beginsAt', 'count', 'sum', 'buckets'])
    .where('kind', '=', kind)
    .where('span', '=', span)
    .where('begins_at', '>=', from)
    .orderBy('begins_at')
    .execute()
  return rows.map((row) => ({ ...row, count: Number(row.count), buckets: row.buckets.map(Number) }))
}
