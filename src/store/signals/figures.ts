import { sql } from 'kysely'
import type { SignalType } from '../../domain/signals/signal.ts'
import type { Database } from '../database/database.ts'

/** Returns the signals that a checked account had in reach, on average, by type. A type without a check is left out. */
export async function rowsPerAccount(db: Database, pipeline: string): Promise<Map<SignalType, number>> {
  const { rows } = await sql<{ type: SignalType; share: number }>`
    select checks.type, (coalesce(sum(counted.signals), 0)::float8 / count(*))::float8 as share
    from signal_checks as checks left join (
      select account_id, type, count(*)::bigint as signals from signals group by account_id, type
    ) as counted on counted.account_id = checks.account_id and counted.type = checks.type
    where checks.pipeline = ${pipeline} and checks.is_matched
    group by checks.type`.execute(db)
  return new Map(rows.map(({ type, share }) => [type, Number(share)]))
}

/** One row a pipeline: its accounts, signals, and the oldest and newest check. */
export interface PipelineFigures {
  pipeline: string
  accounts: number
  unmatched: number
  signals: number
  lastCheckAt: Date | null
}

export async function pipelineFigures(db: Database): Promise<PipelineFigures[]> {
  const { rows } = await sql<{
    pipeline: string
    accounts: bigint
    unmatched: bigint
    signals: bigint
    last: Date | null
  }>`
    with checked as (
      select pipeline, account_id, bool_or(is_matched) as is_matched, max(checked_at) as last
      from signal_checks group by pipeline, account_id
    ) select pipeline, count(*)::bigint as accounts, (count(*) filter (where not is_matched))::bigint as unmatched,
        coalesce(sum((select count(*) from signals where signals.account_id = checked.account_id)), 0)::bigint as signals,
        max(last) as last
      from checked group by pipeline order by pipeline`.execute(db)
  return rows.map(({ pipeline, accounts, unmatched, signals, last }) => ({
    pipeline,
    accounts: Number(accounts),
    unmatched: Number(unmatched),
    signals: Number(signals),
    lastCheckAt: last,
  }))
}
