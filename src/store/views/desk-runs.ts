import { sql } from 'kysely'
import type { Atomic } from '../../domain/money.ts'
import type { LookupKey } from '../../domain/keys.ts'
import { slotIn, type FactSlot } from '../../domain/planning/step.ts'
import { freeOperations } from '../../domain/operations.ts'
import type { Identity } from '../../domain/record.ts'
import type { ObjectKind, TaskStatus } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'
import { filledFields, isOfFile } from './filled-fields.ts'
import { causeOf } from '../runs/failure-cause.ts'
import { liveRuns, type LiveRun } from './desk-now.ts'
import type { RunState } from '../database/tables/states.ts'

export interface RunHead {
  id: string
  connector: string
  object: ObjectKind
  entity: string
  recipe: string
  trigger: string
  state: RunState
  records: number
  startedAt: Date
  finishedAt: Date | null
  /** The name of the file, for a run of one. */
  file: string | null
  /** The schedule that began it; null for a run that a person or a program asked for. */
  schedule: string | null
}

const file = sql<string | null>`source->>'file'`.as('file')

/** The schedule of a row of `runs`. */
export const scheduleOfRun = sql<string | null>`(
  select schedule from schedule_turns where run_id = runs.id and schedule is not null order by schedule_turns.id limit 1)`

const runColumns = [
  'id',
  'connector',
  'object',
  'entity',
  'recipe',
  'trigger',
  'state',
  'records',
  'started_at as startedAt',
  'finished_at as finishedAt',
] as const

/** The place of a run in the list: newest first. */
export interface RunCursor {
  at: Date
  id: string
}

/** The number of a run's records that reached each stage, from read to changed, and their cost. */
export interface Funnel {
  records: number
  /** Records for which at least one lookup has ended. */
  asked: number
  /** Those of them that the service found. */
  matched: number
  /** Records into which at least one field was written. */
  filled: number
  /** Those of them in which a value was replaced. */
  changed: number
  unchanged: number
  skipped: number
  rejected: number
  parked: number
  settledAtomic: Atomic
  inDoubtAtomic: Atomic
  lostAtomic: Atomic
  /** Settled on direct access, in millionths of a credit. */
  creditsAtomic: Atomic
  creditsInDoubtAtomic: Atomic
  creditsLostAtomic: Atomic
}

const free = sql.join(freeOperations.map((operation) => sql`${operation}`))

/** Returns runs that were not only planned, the latest first: the first page, that behind `before`, or that ahead of `after`. */
export async function runHeads(
  db: Database,
  {
    limit,
    before,
    after,
    connector,
  }: {
    limit: number
    before?: RunCursor | undefined
    after?: RunCursor | undefined
    connector?: string | undefined
  },
): Promise<RunHead[]> {
  const direction = after ? 'asc' : 'desc'
  let query = db
    .selectFrom('runs')
    .select(runColumns)
    .select([file, scheduleOfRun.as('schedule')])
    .where('state', '!=', 'planned')
    .orderBy('started_at', direction)
    .orderBy('id', direction)
    .limit(limit)
  if (before) query = query.where(sql<boolean>`(started_at, id) < (${before.at}, ${before.id})`)
  if (after) query = query.where(sql<boolean>`(started_at, id) > (${after.at}, ${after.id})`)
  if (connector !== undefined) query = query.where('connector', '=', connector)
  const heads = await query.execute()
  return after ? heads.reverse() : heads
}

export async function runHead(db: Database, id: string): Promise<RunHead | undefined> {
  return db
    .selectFrom('runs')
    .select(runColumns)
    .select([file, scheduleOfRun.as('schedule')])
    .where('id', '=', id)
    .where('state', '!=', 'planned')
    .executeTakeFirst()
}

/** Returns the figures of these runs, read from the ledger. */
export async function funnels(db: Database, ids: readonly string[]): Promise<Map<string, Funnel>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<Funnel & { id: string }>`
    with counted as (
      select run_id, count(*)::int as records,
        (count(*) filter (where steps != '{}'))::int as asked,
        (count(*) filter (where steps != '{}' and exists (
          select 1 from lookups where lookups.key = any(steps)
            and lookups.outcome = 'found' and lookups.operation not in (${free}))))::int as matched,
        (count(*) filter (where status = 'written'))::int as filled,
        (count(*) filter (where status = 'written' and replaced != '{}'))::int as changed,
        (count(*) filter (where status = 'unchanged'))::int as unchanged,
        (count(*) filter (where status = 'skipped'))::int as skipped,
        (count(*) filter (where status = 'rejected'))::int as rejected,
        (count(*) filter (where status = 'parked'))::int as parked
      from tasks where run_id = any(${[...ids]}) group by run_id
    ), paid as (
      select run_id,
        sum(amount_atomic) filter (where state = 'settled' and currency = 'USD') as settled,
        sum(amount_atomic) filter (where state = 'lost' and currency = 'USD') as lost,
        sum(amount_atomic) filter (where state in ('journaled', 'sent', 'in_doubt') and currency = 'USD') as in_doubt,
        sum(amount_atomic) filter (where state = 'settled' and currency = 'credit') as credits,
        sum(amount_atomic) filter (where state = 'lost' and currency = 'credit') as credits_lost,
        sum(amount_atomic) filter (where state in ('journaled', 'sent', 'in_doubt') and currency = 'credit') as credits_in_doubt
      from charges where run_id = any(${[...ids]}) group by run_id
    )
    select runs.id, coalesce(counted.records, 0) as records, coalesce(asked, 0) as asked, coalesce(matched, 0) as matched,
      coalesce(filled, 0) as filled, coalesce(changed, 0) as changed, coalesce(unchanged, 0) as unchanged,
      coalesce(skipped, 0) as skipped, coalesce(rejected, 0) as rejected, coalesce(parked, 0) as parked,
      coalesce(settled, 0)::bigint as "settledAtomic", coalesce(in_doubt, 0)::bigint as "inDoubtAtomic",
      coalesce(lost, 0)::bigint as "lostAtomic", coalesce(credits, 0)::bigint as "creditsAtomic",
      coalesce(credits_in_doubt, 0)::bigint as "creditsInDoubtAtomic", coalesce(credits_lost, 0)::bigint as "creditsLostAtomic"
    from runs left join counted on counted.run_id = runs.id left join paid on paid.run_id = runs.id
    where runs.id = any(${[...ids]})`.execute(db)
  return new Map(rows.map(({ id, ...funnel }) => [id, funnel]))
}

export interface RunReason {
  status: TaskStatus
  reason: string
  records: number
  /** The id of one such record. */
  example: string
}

/** Returns why records of a run were not written, or not with all fields, the most frequent reason first. */
export async function runReasons(db: Database, id: string): Promise<RunReason[]> {
  const { rows } = await sql<RunReason>`
    select status, ${causeOf(sql`reason`)} as reason, count(*)::int as records,
      (array_agg(record_id order by ordinal))[1] as example from tasks
    where run_id = ${id} and reason is not null
      and (status in ('skipped', 'rejected', 'parked', 'unchanged') or (status = 'written' and reason like 'left out %'))
    group by 1, 2 order by 3 desc limit 30`.execute(db)
  return rows
}

export interface RunRecord {
  task: bigint
  recordId: string
  identity: Identity
  status: TaskStatus
  reason: string | null
  fields: string[]
  updatedAt: Date
  ordinal: number
}

/** Returns a page of a run's records in the order in which they were read: those after `after`, or the last ones before `before`. */
export async function runRecords(
  db: Database,
  id: string,
  {
    after = 0,
    before,
    limit,
    status,
  }: {
    after?: number | undefined
    before?: number | undefined
    limit: number
    status?: TaskStatus | undefined
  },
): Promise<RunRecord[]> {
  const { rows } = await sql<RunRecord>`
    select id as task, ordinal, record_id as "recordId", identity, status, reason, updated_at as "updatedAt",
      case when status = 'written' and patch is not null
        then array(select field from ${filledFields(sql<boolean>`exists (select 1 from runs where runs.id = tasks.run_id and ${isOfFile})`)})
        else '{}' end as fields
    from tasks where run_id = ${id} and ${before === undefined ? sql`ordinal > ${after}` : sql`ordinal < ${before}`}
      ${status === undefined ? sql`` : sql`and status = ${status}`}
    order by ordinal ${before === undefined ? sql`` : sql`desc`} limit ${limit}`.execute(db)
  return before === undefined ? rows : rows.reverse()
}

/** Returns the bought lookups for which records of a run wait, by step, however they are parked. */
export async function waitingBySlot(
  db: Database,
  id: string,
): Promise<{ slot: FactSlot; lookups: number }[]> {
  // The first and the last part of a key name its step.
  const { rows } = await sql<{ named: LookupKey; lookups: number }>`
    select split_part(waiting_for, '|', 1) || '|' || split_part(waiting_for, '|', -1) as named,
      count(distinct waiting_for)::int as lookups
    from tasks join lookups on lookups.key = tasks.waiting_for
    where tasks.run_id = ${id} and lookups.state in ('waiting', 'parked') and lookups.operation not in (${free})
    group by 1`.execute(db)
  return rows.flatMap(({ named, lookups }) => {
    const slot = slotIn(named)
    return slot === undefined ? [] : [{ slot, lookups }]
  })
}

/** Returns one run with the figures of an active run, whatever its state. */
export async function runLive(db: Database, id: string, now: Date): Promise<LiveRun | undefined> {
  const [run] = await liveRuns(db, now, 1, id)
  return run
}
