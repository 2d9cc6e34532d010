import { sql } from 'kysely'
import type { Atomic } from '../../domain/money.ts'
import type { ReadRow } from '../../domain/signals/read-row.ts'
import type { SignalType } from '../../domain/signals/signal.ts'
import type { Database } from '../database/database.ts'
import { storableJson } from '../database/parameters.ts'

/** The rows that the answers of one question have for one account. */
interface AnsweredCheck {
  accountId: bigint
  rows: readonly ReadRow[]
  /** False: the service does not know the company. Nothing is concluded from the absence of rows then. */
  isMatched: boolean
}

/** The answers of one question for several accounts. */
export interface AnsweredQuestion {
  pipeline: string
  type: SignalType
  /** The time of the answers. */
  at: Date
  /** True where everything in reach was asked for: what is not among the rows has ended. */
  isWhole: boolean
  /** The day from which on a whole question reaches back. Undefined: it asked for the state of now. */
  from: string | undefined
  lookupKey: string
  /** The share of an account in the price. */
  priceAtomic: Atomic | null
  checks: readonly AnsweredCheck[]
}

/**
 * Takes the answers of one question in: signals, what is current of each account, and that it was checked. One transaction, so that
 * a check counts as made exactly when its signals are there.
 *
 * Crash windows. Killed before the commit, the answers are in the ledger and the check is due: the same question has the same key on the
 * same day, is answered out of the ledger for nothing, and taken in. Killed after it, nothing is left to do. Two processes with the same
 * question store the same rows: a signal is one by account, type and key.
 */
export async function takeChecks(db: Database, question: AnsweredQuestion): Promise<void> {
  const { pipeline, type, at, isWhole, from, lookupKey, priceAtomic } = question
  await db.transaction().execute(async (tx) => {
    const checks = await withoutForgotten(tx, question.checks)
    if (checks.length === 0) return
    const matched = checks.filter(({ isMatched }) => isMatched)
    const seen = matched.flatMap(({ accountId, rows }) =>
      distinct(rows).map(({ signal, seenAt }) => ({
        account_id: String(accountId),
        key: signal.key,
        title: signal.title,
        link: signal.link,
        place: signal.place,
        strength: signal.strength,
        about: signal.about,
        happened_at: signal.happenedAt?.toISOString() ?? null,
        first_seen_at: earlier(seenAt, at).toISOString(),
        ended_at: signal.endedAt?.toISOString() ?? null,
      })),
    )
    await sql`
      insert into signals (account_id, type, key, title, link, place, strength, about, happened_at, first_seen_at, last_seen_at,
        ended_at, lookup_key, price_atomic)
      select account_id, ${type}, key, title, link, place, strength, about, happened_at, first_seen_at, ${at}::timestamptz,
        ended_at, ${lookupKey}, ${priceAtomic === null ? null : String(priceAtomic)}::bigint
      from jsonb_to_recordset(${storableJson(seen)}::jsonb) as given (account_id bigint, key text, title text, link text,
        place text, strength text, about jsonb, happened_at timestamptz, first_seen_at timestamptz, ended_at timestamptz)
      order by account_id, key
      on conflict (account_id, type, key) do update set title = excluded.title, link = excluded.link, place = excluded.place,
        strength = excluded.strength, about = excluded.about, happened_at = excluded.happened_at, ended_at = excluded.ended_at,
        last_seen_at = greatest(signals.last_seen_at, excluded.last_seen_at)`.execute(tx)
    const ids = matched.map(({ accountId }) => String(accountId))
    // An increment shows what has come alone. A whole question shows all there is: the rest has ended since.
    if (isWhole)
      await sql`
        update signals set ended_at = ${at}
        where account_id = any(${ids}::bigint[]) and type = ${type} and ended_at is null and last_seen_at < ${at}
          and (${from ?? null}::timestamptz is null or coalesce(happened_at, first_seen_at) >= ${from ?? null}::timestamptz)
          and type <> 'news'`.execute(tx)
    if (type === 'expansion') {
      if (!isWhole) await endStagesBefore(tx, matched, at)
      await keepPositions(tx, ids)
    }
    await sql`
      insert into signal_checks (pipeline, account_id, type, checked_at, whole_at, is_matched, lookup_key, price_atomic)
      select ${pipeline}, account_id, ${type}, ${at}::timestamptz, ${at}::timestamptz, is_matched, ${lookupKey},
        ${priceAtomic === null ? null : String(priceAtomic)}::bigint
      from jsonb_to_recordset(${JSON.stringify(
        checks.map(({ accountId, isMatched }) => ({ account_id: String(accountId), is_matched: isMatched })),
      )}::jsonb) as given (account_id bigint, is_matched boolean)
      order by account_id
      on conflict (pipeline, account_id, type) do update set checked_at = excluded.checked_at,
        whole_at = case when ${isWhole} then excluded.whole_at else signal_checks.whole_at end,
        is_matched = excluded.is_matched, lookup_key = excluded.lookup_key, price_atomic = excluded.price_atomic`.execute(
      tx,
    )
  })
}

/** An account may have been forgotten since the question was asked. Its rows are dropped, and those of the others are kept. */
async function withoutForgotten(tx: Database, checks: readonly AnsweredCheck[]): Promise<AnsweredCheck[]> {
  const { rows } = await sql<{ id: string }>`
    select id::text from signal_accounts where id = any(${checks.map(({ accountId }) => String(accountId))}::bigint[])
    order by id for key share`.execute(tx)
  const there = new Set(rows.map(({ id }) => id))
  return checks.filter(({ accountId }) => there.has(String(accountId)))
}

/** An increment shows the entries that have moved: the stage at which each of them was before has ended. */
async function endStagesBefore(db: Database, checks: readonly AnsweredCheck[], at: Date): Promise<void> {
  const given = checks.flatMap(({ accountId, rows }) =>
    rows.flatMap(({ entry, signal: { key } }) =>
      entry === null ? [] : [{ account_id: String(accountId), entry, key }],
    ),
  )
  await sql`
    update signals set ended_at = ${at}
    from jsonb_to_recordset(${storableJson(given)}::jsonb) as given (account_id bigint, entry text, key text)
    where signals.account_id = given.account_id and signals.type = 'expansion' and signals.ended_at is null
      and starts_with(signals.key, given.entry || ':') and signals.key <> given.key`.execute(db)
}

/**
 * Keeps where accounts stand, by the stages that go on: the furthest one, of two the one that was seen first later, then the first by its
 * market. Its markets are those of all.
 */
async function keepPositions(db: Database, ids: readonly string[]): Promise<void> {
  await sql`
    update signal_accounts set stage = furthest.stage, direction = furthest.direction, markets = coalesce(told.markets, '[]')
    from unnest(${ids}::bigint[]) as given (id)
      left join lateral (
        select about ->> 'stage' as stage, about ->> 'direction' as direction from signals
        where account_id = given.id and type = 'expansion' and ended_at is null
        order by coalesce(array_position(${ladder}::text[], lower(about ->> 'stage')), 0) desc, first_seen_at desc,
          place collate "C", key
        limit 1) as furthest on true
      left join lateral (
        select jsonb_agg(distinct place) filter (where place is not null) as markets from signals
        where account_id = given.id and type = 'expansion' and ended_at is null) as told on true
    where signal_accounts.id = given.id`.execute(db)
}

/** The ladder of a market entry, lowest first of the service. A word that is not among them stands below. */
const ladder = ['exploring', 'committing', 'expanding', 'scaling']

/** The service may show a row on two pages when rows move. */
function distinct(rows: readonly ReadRow[]): ReadRow[] {
  return [...new Map(rows.map((row) => [row.signal.key, row])).values()]
}

function earlier(one: Date | null, other: Date): Date {
  return one !== null && one < other ? one : other
}
