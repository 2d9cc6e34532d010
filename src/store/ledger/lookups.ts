import { sql, type Selectable } from 'kysely'
import { defaultNetworkHosts, type LookupKey } from '../../domain/keys.ts'
import type { Atomic } from '../../domain/money.ts'
import type { LookupWanted } from '../../domain/planning/planner.ts'
import type { Fact, LookupRequest } from '../../domain/record.ts'
import { isFreeOperation } from '../../domain/operations.ts'
import type { Operation } from '../../domain/words.ts'
import { stoppedAmong } from '../contract/operation-states.ts'
import { coalesceWhileBusy, type Each } from '../../timing/coalesce.ts'
import type { JustNow } from '../../timing/just-now.ts'
import type { Database } from '../database/database.ts'
import { waitsOf } from '../database/gathering.ts'
import { isOneOf, pages } from '../database/parameters.ts'
import type { Tables } from '../database/tables/schema.ts'
import { indefinitely, type LookupState } from '../database/tables/states.ts'
import { isStoppedByPerson } from '../runs/parked-runs.ts'
import { adoptAnswers } from '../names/adopt-answers.ts'
import { findSameQuestions, freshAnswers } from '../names/same-questions.ts'
import { createLookupEndings, type LookupEndings } from './lookup-endings.ts'
import { createLookupLeases, type LookupLeases } from './lookup-leases.ts'

export interface LookupRow {
  key: LookupKey
  operation: Operation
  request: LookupRequest
  state: LookupState
  runId: string
  connector: string
  hot: boolean
  tries: number
  /** True when the run that buys it was stopped. */
  runStopped: boolean
  /** When the answer stops being fresh; null while there is none. */
  freshUntil: Date | null
  /** The batch in which the lookup is out; null while it is on its own. */
  batchKey: LookupKey | null
  /** Goes in no batch any more. A batch itself: it is dissolved as soon as its open charge is closed. */
  alone: boolean
  /** Identifies a started request to the service, which is polled for the answer. */
  queryId: string | null
  /** When it is tried next; for a parked one, when it goes on by itself. */
  dueAt: Date
  /** The reason of its last delay or end. */
  reason: string | null
}

type KnownFact = Fact & { operation: Operation; freshUntil: Date }

/**
 * The answers that this process has just stored, for the step that follows. Only what has committed, and only for a moment: what
 * another process makes of them meanwhile (erased, asked anew) is found in the ledger by whoever comes later. A task is moved
 * as before: only if it still waits, so a subject that was forgotten in that moment gets nothing.
 */
export type SettledHere = JustNow<LookupKey, Pick<KnownFact, 'operation' | 'outcome' | 'data' | 'freshUntil'>>

/** Called with lookups that are due, and those among them that the ledger did not have before: no queue has a job of these. */
export type OnDue = (keys: LookupKey[], isNew: ReadonlySet<LookupKey>) => Promise<void> | void

export interface LookupLedger extends LookupLeases, LookupEndings {
  /**
   * Asks for lookups: unknown, stale and failed ones become due; fresh answers stay as they are. `onDue` is called as soon as
   * they are stored, and waited for; what then follows is done again where a lookup is bought.
   */
  want(
    lookups: LookupWanted[],
    run: { id: string; connector: string; hot: boolean },
    onDue?: OnDue,
  ): Promise<void>
  get(key: LookupKey): Promise<LookupRow | undefined>
  /**
   * Returns what is known under these keys, fresh or stale. `orSettledHere`: an answer that this process has just stored may be
   * taken from memory, for a step that would be planned in the same moment.
   */
  facts(keys: LookupKey[], options?: { orSettledHere?: boolean }): Promise<Map<LookupKey, KnownFact>>
  /** Returns the lookups among these that are parked because their operation is stopped, with the reason. */
  stopped(keys: readonly LookupKey[]): Promise<Map<LookupKey, string>>
  /** Returns the answers that would not be bought again, under whatever name of the subject the ledger has them. */
  freshFacts(keys: readonly LookupKey[]): Promise<Map<LookupKey, Fact & { operation: Operation }>>
  /** Returns what a run has paid for each of these lookups, in USD; a credit counts as a cent. Leaves out the unpaid ones. */
  paidBy(runId: string, keys: readonly LookupKey[]): Promise<Map<LookupKey, Atomic>>
}

/**
 * A free lookup is due this much earlier than a paid one. Free lookups complete records that were paid for, so they go
 * before lookups that start another record: a run that is interrupted has then written what it bought.
 */
const freeAheadMs = 86_400_000

export function createLookupLedger(
  db: Database,
  options: { now: () => Date; hosts?: readonly string[]; settled?: SettledHere | undefined },
): LookupLedger {
  const { now, hosts = defaultNetworkHosts } = options

  async function getAll(keys: readonly LookupKey[]): Promise<Each<LookupRow | undefined>[]> {
    const rows = await db
      .selectFrom('lookups')
      .innerJoin('runs', 'runs.id', 'lookups.run_id')
      // Without the answer, and what else this step has no use for.
      .select(lookupColumns)
      .select(sql<boolean>`runs.state = 'stopped' or ${isStoppedByPerson(sql`runs.id`)}`.as('run_is_stopped'))
      .where(sql<boolean>`key = any(${[...keys]}::text[])`)
      .execute()
    const byKey = new Map(rows.map((row) => [row.key, toLookup(row)]))
    return keys.map((key) => ({ ok: byKey.get(key) }))
  }

  return {
    ...createLookupLeases(db, options),
    ...createLookupEndings(db, options),

    async want(lookups, run, onDue) {
      const at = now()
      for (const page of pages(unique(lookups), 500)) {
        const rows = page.map(({ key, operation, request }) => ({
          key,
          operation,
          request,
          due_at: isFreeOperation(operation) ? new Date(at.getTime() - freeAheadMs) : at,
        }))
        // A fresh answer is never bought again, and a stale one stays until the new one is stored. A lookup that waits for
        // another run moves to the run that asked last, so that this run's budget can pay for what the other's has parked;
        // not to a run that was stopped, which buys nothing.
        const { rows: stored } = await sql<{ key: LookupKey; isNew: boolean }>`
          insert into lookups (key, operation, request, state, run_id, connector, hot, due_at)
          select key, operation, request, 'waiting', ${run.id}, ${run.connector}, ${run.hot}::boolean, due_at
          from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
            as wanted (key text, operation text, request jsonb, due_at timestamptz)
          on conflict (key) do update set
            state = 'waiting',
            run_id = case when ${keepsItsRun(run.id)} then lookups.run_id else excluded.run_id end,
            connector = case when ${keepsItsRun(run.id)} then lookups.connector else excluded.connector end,
            hot = lookups.hot or excluded.hot,
            due_at = case when lookups.state = 'waiting' then least(lookups.due_at, excluded.due_at) else excluded.due_at end,
            tries = case when lookups.state = 'waiting' then lookups.tries else 0 end,
            reason = null
          where lookups.state != 'answered' or lookups.fresh_until <= ${at}
          returning key, xmax = 0 as "isNew"`.execute(db)
        const keys = page.map(({ key }) => key)
        const isNew = new Set(stored.filter((row) => row.isNew).map(({ key }) => key))
        if (stored.length > 0)
          await onDue?.(
            stored.map(({ key }) => key),
            isNew,
          )
        // The batch in which one of them is out moves to this run too.
        await sql`
          update lookups as batch set run_id = ${run.id}, connector = ${run.connector}, due_at = least(batch.due_at, ${at}),
            hot = batch.hot or ${run.hot}, queued_until = case when ${run.hot} then null else batch.queued_until end
          from lookups as member
          where not exists (select from runs where id = ${run.id} and state = 'stopped')
            and member.key = any(${keys}) and batch.key = member.bundle_key
            and batch.state in ('waiting', 'parked') and batch.run_id != ${run.id}`.execute(db)
        // Crash window: killed before this, the lookups wait, and whoever reserves a charge for one finds the answer.
        await adoptAnswers(db, await findSameQuestions(db, keys, hosts), at)
      }
    },

    get: coalesceWhileBusy(getAll, (key) => key, waitsOf(db)),

    async facts(keys, { orSettledHere = false } = {}) {
      if (keys.length === 0) return new Map()
      const settled = orSettledHere ? options.settled?.takeAll(keys) : undefined
      if (settled) return settled
      const rows = await db
        .selectFrom('lookups')
        .select(['key', 'operation', 'state', 'outcome', 'answer', 'reason', 'fresh_until'])
        .where(isOneOf('key', keys))
        .where('state', 'in', ['answered', 'failed'])
        .execute()
      return new Map(
        rows.map((row) => [
          row.key,
          {
            operation: row.operation,
            outcome: row.state === 'failed' ? ('failed' as const) : (row.outcome ?? 'unreadable'),
            data: row.answer as Record<string, unknown> | null,
            reason: row.reason ?? undefined,
            freshUntil: row.fresh_until ?? indefinitely,
          },
        ]),
      )
    },

    stopped: (keys) => stoppedAmong(db, keys),

    async freshFacts(keys) {
      if (keys.length === 0) return new Map()
      const at = now()
      const own = keys.map((key) => ({ asked: key, key, needs: 'any' as const }))
      const others = await findSameQuestions(db, keys, hosts)
      const { rows } = await sql<FreshRow>`
        select asked, operation, outcome, answer from ${freshAnswers([...own, ...others], at)}`.execute(db)
      return new Map(
        rows.map(({ asked, operation, outcome, answer }) => [asked, { operation, outcome, data: answer }]),
      )
    },

    async paidBy(runId, keys) {
      if (keys.length === 0) return new Map()
      const { rows } = await sql<{ key: LookupKey; paid: Atomic }>`
        select lookup_key as key, sum(case currency when 'credit' then amount_atomic / 100 else amount_atomic end)::bigint as paid
        from charge_shares where run_id = ${runId} and lookup_key = any(${[...new Set(keys)]})
          and state not in ('declined', 'expired') group by lookup_key`.execute(db)
      return new Map(rows.map(({ key, paid }) => [key, paid]))
    },
  }
}

/** True for a lookup that an active run waits for and that a stopped run asks for as well. */
const keepsItsRun = (asker: string) => sql<boolean>`(lookups.state in ('waiting', 'parked')
  and exists (select from runs where id = ${asker} and state = 'stopped')
  and exists (select from runs where id = lookups.run_id and state in ('scanning', 'working', 'parked')))`

interface FreshRow {
  asked: LookupKey
  operation: Operation
  outcome: Fact['outcome']
  answer: Record<string, unknown> | null
}

const lookupColumns = [
  'lookups.key',
  'lookups.operation',
  'lookups.request',
  'lookups.state',
  'lookups.run_id',
  'lookups.connector',
  'lookups.hot',
  'lookups.tries',
  'lookups.fresh_until',
  'lookups.bundle_key',
  'lookups.alone',
  'lookups.query_id',
  'lookups.due_at',
  'lookups.reason',
] as const
type LookupColumn = (typeof lookupColumns)[number] extends `lookups.${infer Column}` ? Column : never

function toLookup(
  row: Pick<Selectable<Tables['lookups']>, LookupColumn> & { run_is_stopped: boolean },
): LookupRow {
  return {
    key: row.key,
    operation: row.operation,
    request: row.request as LookupRequest,
    state: row.state,
    runId: row.run_id,
    connector: row.connector,
    hot: row.hot,
    tries: row.tries,
    runStopped: row.run_is_stopped,
    freshUntil: row.fresh_until,
    batchKey: row.bundle_key,
    alone: row.alone,
    queryId: row.query_id,
    dueAt: row.due_at,
    reason: row.reason,
  }
}

/** Returns each key once. Sorted, so that two transactions that want the same lookups lock them in the same order. */
function unique(lookups: LookupWanted[]): LookupWanted[] {
  const byKey = [...new Map(lookups.map((lookup) => [lookup.key, lookup])).values()]
  return byKey.sort((a, b) => (a.key < b.key ? -1 : 1))
}
