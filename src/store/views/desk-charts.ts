import { sql } from 'kysely'
import type { Atomic } from '../../domain/money.ts'
import type { Currency } from '../../domain/payment.ts'
import type { Operation } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'
import { filledFields, isOfFile } from './filled-fields.ts'

/** Exact durations of paid requests, from the times of their charges. */
export interface LookupTimes {
  count: number
  p50Ms: number
  p95Ms: number
}

interface TimeRange {
  from: Date
  to: Date
}

/**
 * A charge is marked as sent before the first byte leaves, and closed with its answer. One that was sent again says nothing
 * about a single request.
 */
const answered = ({ from, to }: TimeRange) => sql`
  state = 'settled' and sends = 1 and closed_at >= ${from} and closed_at < ${to} and sent_at <= closed_at`
const took = sql`extract(epoch from closed_at - sent_at) * 1000`
const figures = sql`count(*)::int as count,
  (percentile_cont(0.5) within group (order by ${took}))::float8 as "p50Ms",
  (percentile_cont(0.95) within group (order by ${took}))::float8 as "p95Ms"`

/** Returns the durations in each part of a time range that has any, oldest first. */
export async function lookupTimes(
  db: Database,
  range: TimeRange,
  stepMs: number,
): Promise<(LookupTimes & { at: Date })[]> {
  const { rows } = await sql<LookupTimes & { at: Date }>`
    select date_bin(make_interval(secs => ${stepMs / 1_000}::float8), closed_at, ${range.from}::timestamptz) as at, ${figures}
    from charges where ${answered(range)} group by 1 order by 1`.execute(db)
  return rows
}

/** Returns the durations of each operation, the most frequent first. */
export async function lookupTimesByOperation(
  db: Database,
  range: TimeRange,
): Promise<(LookupTimes & { operation: Operation })[]> {
  const { rows } = await sql<LookupTimes & { operation: Operation }>`
    select operation, ${figures} from charges where ${answered(range)} group by 1 order by 2 desc, 1`.execute(
    db,
  )
  return rows
}

/** The cost of a week's runs and the fields they filled, as `report` counts both. */
export interface WeekCost {
  /** The Monday, in UTC, as `2026-11-16`. */
  week: string
  currency: Currency
  /** Settled and lost. */
  costAtomic: Atomic
  /** Fields that were filled or changed. */
  fields: number
}

/** Returns the weeks in which a run began that cost or filled something, oldest first. */
export async function costByWeek(db: Database, from: Date): Promise<WeekCost[]> {
  const { rows } = await sql<WeekCost>`
    with began as materialized (
      select id, ${isOfFile} as of_file,
        to_char(date_trunc('week', started_at at time zone 'UTC'), 'YYYY-MM-DD') as week
      from runs where state != 'planned' and started_at >= ${from}
    ), paid as (
      select week, currency, sum(amount_atomic) as cost from began join charges on charges.run_id = began.id
      where charges.state in ('settled', 'lost') group by 1, 2
    ), filled as (
      select week, count(*)::int as fields
      from began join tasks on tasks.run_id = began.id and tasks.status = 'written'
      cross join ${filledFields(sql<boolean>`began.of_file`)} group by 1
    )
    select week, coalesce(currency, 'USD') as currency, coalesce(cost, 0)::bigint as "costAtomic",
      coalesce(fields, 0) as fields
    from paid full join filled using (week) order by 1, 2 desc`.execute(db)
  return rows
}
