import { sql } from 'kysely'
import type { DayScore } from '../../domain/signals/change.ts'
import type { Database } from '../database/database.ts'

interface NewDayScore {
  accountId: bigint
  hundredths: number
  stage: string | null
}

/** Keeps the scores of a day (UTC, `2026-11-23`). A second score of one day replaces the first. */
export async function saveScores(
  db: Database,
  pipeline: string,
  day: string,
  scores: readonly NewDayScore[],
): Promise<void> {
  if (scores.length === 0) return
  await sql`
    insert into signal_scores (pipeline, account_id, day, score, stage)
    select ${pipeline}, account_id, ${day}::date, score, stage
    from unnest(
      ${scores.map(({ accountId }) => String(accountId))}::bigint[],
      ${scores.map(({ hundredths }) => String(hundredths))}::bigint[],
      ${scores.map(({ stage }) => stage)}::text[]) as given (account_id, score, stage)
    -- An account may have been forgotten meanwhile.
    where exists (select from signal_accounts where id = given.account_id)
    order by account_id
    on conflict (pipeline, account_id, day) do update set score = excluded.score, stage = excluded.stage`.execute(
    db,
  )
}

/** Returns the scores of accounts in a pipeline by account, the earliest first: from a day on, and the last one on or before that day. */
export async function scoreHistory(
  db: Database,
  pipeline: string,
  accountIds: readonly bigint[],
  fromDay: string,
): Promise<Map<bigint, DayScore[]>> {
  if (accountIds.length === 0) return new Map()
  const { rows } = await sql<{ account_id: bigint; day: string; score: bigint; stage: string | null }>`
    select account_id, to_char(day, 'YYYY-MM-DD') as day, score, stage from signal_scores as kept
    where pipeline = ${pipeline} and account_id = any(${accountIds.map(String)}::bigint[])
      and (day > ${fromDay}::date or day = (
        select max(day) from signal_scores as earlier
        where earlier.pipeline = kept.pipeline and earlier.account_id = kept.account_id and earlier.day <= ${fromDay}::date))
    order by account_id, day`.execute(db)
  const byAccount = new Map<bigint, DayScore[]>()
  for (const { account_id: account, day, score, stage } of rows) {
    const history = byAccount.get(account) ?? []
    history.push({ day, hundredths: Number(score), stage })
    byAccount.set(account, history)
  }
  return byAccount
}

/** The days for which an account of a pipeline has a score: what a report compares. */
export interface ScoredAccount {
  accountId: bigint
  firstDay: string
  lastDay: string
}

/** Returns the accounts of a pipeline that had a score on one of its days, by id. */
export async function scoredAccounts(db: Database, pipeline: string): Promise<ScoredAccount[]> {
  const { rows } = await sql<ScoredAccount>`
    select account_id as "accountId", to_char(min(day), 'YYYY-MM-DD') as "firstDay",
      to_char(max(day), 'YYYY-MM-DD') as "lastDay"
    from signal_scores where pipeline = ${pipeline} group by account_id order by account_id`.execute(db)
  return rows
}

/** Returns the pipelines in which an account has a score, or in which one of its types was checked, by name. */
export async function pipelinesOf(db: Database, accountId: bigint): Promise<string[]> {
  const { rows } = await sql<{ pipeline: string }>`
    select pipeline from signal_scores where account_id = ${accountId}
    union select pipeline from signal_checks where account_id = ${accountId} order by 1`.execute(db)
  return rows.map(({ pipeline }) => pipeline)
}
