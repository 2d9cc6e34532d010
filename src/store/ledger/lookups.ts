import { sql, type Selectable, type Transaction } from 'kysely'
import { isBatchKey, type LookupKey } from '../../domain/keys.ts'
import type { Atomic } from '../../domain/money.ts'
import type { LookupWanted } from '../../domain/planning/planner.ts'
import type { StoredAnswer } from '../../domain/ports/charge-journal.ts'
import type { Fact, LookupRequest } from '../../domain/record.ts'
import { freeOperations, type Operation } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'
import { indefinitely, type LookupState, type RunState, type Tables } from '../database/schema.ts'
import { storeSingles } from './answers.ts'
import { dissolve } from './batches.ts'
import { isOneOf, pages } from '../database/parameters.ts'
import { coalesceWhileBusy, type Each } from '../../timing/coalesce.ts'

export interface LookupRow {
  key: LookupKey
  operation: Operation
  request: LookupRequest
  state: LookupState
  runId: string
  connector: string
  hot: boolean
  tries: number
  /** The run under which it is bought was stopped by somebody. */
  runStopped: boolean
  /** When the answer stops being fresh; null while there is none. */
  freshUntil: Date | null
  /** The request in which it is out together with others. */
  bundleKey: LookupKey | null
  /** Under what the answer of a request that was started is asked for. */
  queryId: string | null
}

/** Whose lookups a process works on: one run's, or those of all runs of some connectors. Never what nobody asked it to buy. */
export type LeaseOwner = { runId: string } | { connectors: string[] }

export interface LookupLedger {
  /** Asks for lookups: unknown ones, stale answers and failed ones become due, fresh answers stay as they are. */
  want(lookups: LookupWanted[], run: { id: string; connector: string; hot: boolean }): Promise<void>
  get(key: LookupKey): Promise<LookupRow | undefined>
  /** Fresh or not: what is known under these keys. */
  facts(keys: LookupKey[]): Promise<Map<LookupKey, Fact & { operation: Operation; freshUntil: Date }>>
  /** What a run has paid for each of these, in USD; a credit counts as a cent. What it did not pay for is not in the answer. */
  paidBy(runId: string, keys: readonly LookupKey[]): Promise<Map<LookupKey, Atomic>>
  /**
   * Leases up to `limit` due lookups of these runs to the queue, the longest due first. Parked ones whose time has come
   * are taken too.
   */
  lease(limit: number, leaseMs: number, hot: boolean, owner: LeaseOwner): Promise<LookupKey[]>
  /** After the queue was emptied: what was leased may be added again at once. */
  dropLeases(): Promise<number>
  storeFree(key: LookupKey, answer: StoredAnswer): Promise<void>
  /** Try again at `dueAt`. */
  postpone(key: LookupKey, dueAt: Date, reason: string, countsAsTry: boolean): Promise<void>
  /** Stands still until `dueAt` (null: until somebody acts); the tasks that wait for it say so. */
  park(key: LookupKey, dueAt: Date | null, cause: { code: string; reason: string }): Promise<void>
  /**
   * Ends it with a reason. A bundle's lookups go alone from now on, unless the failure is theirs too: paid for, and never
   * answered.
   */
  fail(key: LookupKey, reason: string, isPaid?: boolean): Promise<void>
  /** What is parked for a run may go on now: somebody has acted. */
  unpark(runId: string): Promise<number>
  /** What was parked for one of these causes may go on now: the cause is gone. */
  unparkBy(codes: string[]): Promise<number>
}

/**
 * What is free completes a record that was paid for, and goes before what begins another: a night that is broken off has
 * written what it has bought.
 */
const aheadMs = 86_400_000
/** When a bundle that could not be finished and may have been paid for is taken up again. */
const recheckMs = 5 * 60_000

export function createLookupLedger(db: Database, options: { now: () => Date }): LookupLedger {
  const { now } = options

  async function move(
    key: LookupKey,
    change: { state: LookupState; dueAt: Date; reason: string; tries: 0 | 1 },
  ) {
    await db
      .updateTable('lookups')
      .set((eb) => ({
        state: change.state,
        due_at: change.dueAt,
        reason: change.reason,
        queued_until: null,
        tries: eb('tries', '+', change.tries),
      }))
      .where('key', '=', key)
      .where('state', 'in', ['waiting', 'parked'])
      .execute()
  }

  async function getAll(keys: readonly LookupKey[]): Promise<Each<LookupRow | undefined>[]> {
    const rows = await db
      .selectFrom('lookups')
      .innerJoin('runs', 'runs.id', 'lookups.run_id')
      .selectAll('lookups')
      .select('runs.state as run_state')
      .where(sql<boolean>`key = any(${[...keys]}::text[])`)
      .execute()
    const byKey = new Map(rows.map((row) => [row.key, toLookup(row)]))
    return keys.map((key) => ({ ok: byKey.get(key) }))
  }

  async function parkIn(
    tx: Transaction<Tables>,
    key: LookupKey,
    { dueAt, code, reason }: { dueAt: Date; code: string; reason: string },
  ): Promise<void> {
    await tx
      .updateTable('lookups')
      .set({ state: 'parked', due_at: dueAt, reason, code, queued_until: null })
      .where('key', '=', key)
      .where('state', 'in', ['waiting', 'parked'])
      .execute()
    await tx
      .updateTable('tasks')
      .set({ status: 'parked', reason, updated_at: now() })
      .where(waitsFor([key]))
      .where('status', '=', 'looking_up')
      .execute()
  }

  return {
    async want(lookups, run) {
      const at = now()
      for (const page of pages(dedupe(lookups), 500)) {
        const rows = page.map(({ key, operation, request }) => ({
          key,
          operation,
          request,
          due_at: freeOperations.includes(operation) ? new Date(at.getTime() - aheadMs) : at,
        }))
        // A fresh answer is never bought again, and a stale one stays until its successor is here; one that waits for
        // another run goes on under the run that asks last, so that what one run's budget has parked another may still pay for.
        await sql`
          insert into lookups (key, operation, request, state, run_id, connector, hot, due_at)
          select key, operation, request, 'waiting', ${run.id}, ${run.connector}, ${run.hot}::boolean, due_at
          from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
            as wanted (key text, operation text, request jsonb, due_at timestamptz)
          on conflict (key) do update set
            state = 'waiting',
            run_id = excluded.run_id,
            connector = excluded.connector,
            hot = lookups.hot or excluded.hot,
            due_at = case when lookups.state = 'waiting' then least(lookups.due_at, excluded.due_at) else excluded.due_at end,
            tries = case when lookups.state = 'waiting' then lookups.tries else 0 end,
            reason = null
          where lookups.state != 'answered' or lookups.fresh_until <= ${at}`.execute(db)
        // What is out together with others goes on under this run too.
        await sql`
          update lookups as bundle set run_id = ${run.id}, connector = ${run.connector}, due_at = least(bundle.due_at, ${at}),
            hot = bundle.hot or ${run.hot}, queued_until = case when ${run.hot} then null else bundle.queued_until end
          from lookups as member
          where member.key = any(${page.map(({ key }) => key)}) and bundle.key = member.bundle_key
            and bundle.state in ('waiting', 'parked') and bundle.run_id != ${run.id}`.execute(db)
      }
    },

    get: coalesceWhileBusy(getAll, (key) => key),

    async facts(keys) {
      if (keys.length === 0) return new Map()
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
            ...(row.reason === null ? {} : { reason: row.reason }),
            freshUntil: row.fresh_until ?? indefinitely,
          },
        ]),
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

    async lease(limit, leaseMs, hot, owner) {
      const owned =
        'runId' in owner ? sql`run_id = ${owner.runId}` : sql`connector = any(${owner.connectors})`
      const at = now()
      return db.transaction().execute(async (tx) => {
        const { rows } = await sql<{ key: LookupKey; was_parked: boolean }>`
          with due as (
            select key, state from lookups
            where state in ('waiting', 'parked') and hot = ${hot} and due_at <= ${at} and ${owned} and bundle_key is null
              and (queued_until is null or queued_until <= ${at})
            order by due_at limit ${limit} for update skip locked
          )
          update lookups set state = 'waiting', queued_until = ${new Date(at.getTime() + leaseMs)}
          from due where lookups.key = due.key
          returning lookups.key, due.state = 'parked' as was_parked`.execute(tx)
        const resumed = rows.filter((row) => row.was_parked).map((row) => row.key)
        if (resumed.length > 0) {
          await tx
            .updateTable('tasks')
            .set({ status: 'looking_up', reason: null, updated_at: at })
            .where(waitsFor(resumed))
            .where('status', '=', 'parked')
            .execute()
        }
        return rows.map((row) => row.key)
      })
    },

    async dropLeases() {
      const { numUpdatedRows } = await db
        .updateTable('lookups')
        .set({ queued_until: null })
        .where('state', '=', 'waiting')
        .where('queued_until', 'is not', null)
        .executeTakeFirst()
      return Number(numUpdatedRows)
    },

    storeFree: (key, answer) => storeSingles(db, [{ key, answer }], now()),

    postpone: (key, dueAt, reason, countsAsTry) =>
      move(key, { state: 'waiting', dueAt, reason, tries: countsAsTry ? 1 : 0 }),

    async park(key, dueAt, { code, reason }) {
      await db.transaction().execute(async (tx) => {
        if (await mayDissolve(tx, key)) {
          return dissolve(tx, key, { parkedUntil: dueAt ?? indefinitely, code, reason }, now())
        }
        await parkIn(tx, key, { dueAt: dueAt ?? indefinitely, code, reason })
      })
    },

    async fail(key, reason, isPaid = false) {
      if (isBatchKey(key) && isPaid) {
        const ended = { state: 'failed' as const, reason, queued_until: null, bundle_key: null }
        await db
          .updateTable('lookups')
          .set(ended)
          .where((eb) => eb.or([eb('key', '=', key), eb('bundle_key', '=', key)]))
          .where('state', 'in', ['waiting', 'parked'])
          .execute()
        await db.updateTable('lookups').set({ request: '{}' }).where('key', '=', key).execute()
        return
      }
      if (isBatchKey(key)) {
        // Crash window: one that may have been paid for stays together, whatever went wrong with it. It is taken up again.
        return db.transaction().execute(async (tx) => {
          if (await mayDissolve(tx, key)) return dissolve(tx, key, { alone: true }, now())
          const dueAt = new Date(now().getTime() + recheckMs)
          await parkIn(tx, key, { dueAt, code: 'bundle_open', reason })
        })
      }
      await db
        .updateTable('lookups')
        .set({ state: 'failed', reason, queued_until: null })
        .where('key', '=', key)
        .where('state', 'in', ['waiting', 'parked'])
        .execute()
    },

    async unpark(runId) {
      const at = now()
      // What was never tried waits for nothing: it was asked for by a process whose clock ran ahead.
      await sql`
        update lookups set due_at = ${at}, queued_until = null
        where run_id = ${runId} and state = 'waiting' and tries = 0 and query_id is null and due_at > ${at}`.execute(
        db,
      )
      // The tasks are open again in the same moment: a run whose tasks all still looked parked would end at once.
      const { rows } = await sql<{ resumed: number }>`
        with resumed as (
          update lookups set state = 'waiting', due_at = ${at}, queued_until = null, run_id = ${runId}
          where state = 'parked' and key in (
            select coalesce(bundle_key, key) from lookups
            join tasks on tasks.waiting_for = lookups.key and tasks.run_id = ${runId})
          returning key
        ), opened as (
          update tasks set status = 'looking_up', reason = null, updated_at = ${at}
          from resumed join lookups as asked on asked.key = resumed.key or asked.bundle_key = resumed.key
          where waiting_for = asked.key and status = 'parked'
        )
        select count(*)::int as resumed from resumed`.execute(db)
      return rows[0]?.resumed ?? 0
    },

    async unparkBy(codes) {
      const { numUpdatedRows } = await db
        .updateTable('lookups')
        .set({ due_at: now(), queued_until: null })
        .where('state', '=', 'parked')
        .where('code', 'in', codes)
        .executeTakeFirst()
      return Number(numUpdatedRows)
    },
  }
}

function toLookup(row: Selectable<Tables['lookups']> & { run_state: RunState }): LookupRow {
  return {
    key: row.key,
    operation: row.operation,
    request: row.request as LookupRequest,
    state: row.state,
    runId: row.run_id,
    connector: row.connector,
    hot: row.hot,
    tries: row.tries,
    runStopped: row.run_state === 'stopped',
    freshUntil: row.fresh_until,
    bundleKey: row.bundle_key,
    queryId: row.query_id,
  }
}

function dedupe(lookups: LookupWanted[]): LookupWanted[] {
  const unique = [...new Map(lookups.map((lookup) => [lookup.key, lookup])).values()]
  // In one order, or two that want the same could wait for each other.
  return unique.sort((a, b) => (a.key < b.key ? -1 : 1))
}

/** The tasks that wait for one of these lookups, or for one that is out in a bundle of that key. */
function waitsFor(keys: readonly LookupKey[]) {
  return sql<boolean>`waiting_for in (select key from lookups where key = any(${[...keys]}) or bundle_key = any(${[...keys]}))`
}

/** A bundle that nobody has paid for, nor may have, is let go: each of its lookups waits by itself. */
async function mayDissolve(tx: Transaction<Tables>, key: LookupKey): Promise<boolean> {
  if (!isBatchKey(key)) return false
  // The lock is a statement of its own: one that waits for it goes on seeing the charges of before its wait.
  await sql`select from lookups where key = ${key} for no key update`.execute(tx)
  const { rows } = await sql<{ key: string }>`
    select key from lookups where key = ${key} and state in ('waiting', 'parked') and query_id is null
      and not exists (select 1 from charges where lookup_key = ${key} and state in ('journaled', 'sent', 'in_doubt'))`.execute(
    tx,
  )
  return rows.length > 0
}
