import { sql, type Transaction } from 'kysely'
import { errorCode } from '../../domain/error-codes.ts'
import { isBatchKey, type LookupKey } from '../../domain/keys.ts'
import type { Atomic } from '../../domain/money.ts'
import { isTypedOperation, type FactSlot } from '../../domain/operations.ts'
import { openChargeStates } from '../../domain/payment.ts'
import { operations } from '../../domain/words.ts'
import type { StoredAnswer } from '../../domain/ports/charge-journal.ts'
import type { Database } from '../database/database.ts'
import type { Tables } from '../database/tables/schema.ts'
import { indefinitely, type LookupState } from '../database/tables/states.ts'
import { storeSingles } from './answers.ts'
import { dissolveBatch } from './batches.ts'
import { waitsForOneOf } from './lookup-leases.ts'
import { isStopped } from './spend-switch.ts'

/** The endings of an attempt at a lookup without a payment: answered for free, postponed, parked or failed. */
export interface LookupEndings {
  storeFree(key: LookupKey, answer: StoredAnswer): Promise<void>
  /** Tries again at `dueAt`. */
  postpone(key: LookupKey, dueAt: Date, reason: string, countsAsTry: boolean): Promise<void>
  /** Parks a lookup and the tasks that wait for it until `dueAt`; null: until a person acts. */
  park(key: LookupKey, dueAt: Date | null, cause: { code: string; reason: string }): Promise<void>
  /**
   * Parks what is left of a run at a limit that one of its lookups has met, with the tasks that wait for it: the steps that
   * cost as much. Nothing is parked while open charges may still give back what does not fit. Returns how many were parked.
   */
  parkRest(
    key: LookupKey,
    dueAt: Date | null,
    cause: { code: string; reason: string },
    limit: SpentLimit,
  ): Promise<number>
  /**
   * Ends a lookup with a reason. The members of a batch each go alone from now on. With `isPaid` they fail too, because the
   * batch was paid for and never answered.
   */
  fail(key: LookupKey, reason: string, isPaid?: boolean): Promise<void>
}

/** A limit that a lookup did not fit into. */
export interface SpentLimit {
  /** The steps that do not fit either. */
  slots: readonly FactSlot[]
  /** The budget; absent for the wallet and the kill switch. */
  budget?: { scope: string; capAtomic: Atomic; amountAtomic: Atomic } | undefined
}

/** When a batch that failed, and that may have been paid for, is tried again. */
const recheckMs = 5 * 60_000

const typedOperations = operations.filter(isTypedOperation)

/**
 * Crash windows of a limit that is spent. `park` and `parkRest` are one transaction each. Killed before the first: the lookup
 * is still due, is refused again and parked then. Killed between them: the others are refused one by one, or parked by the
 * next that is refused. Killed after: all wait for the time at which the limit ends, or for the next start of the run, which
 * makes them due again. A lookup that a worker reserves at that moment is locked, and left out; one that has just been
 * reserved may be parked with its charge open, and its answer is stored and its tasks go on as with any parked lookup. A lookup
 * whose tasks are not stored yet is left out: they would wait for it without being parked.
 */
export function createLookupEndings(db: Database, { now }: { now: () => Date }): LookupEndings {
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
      .where(waitsForOneOf([key]))
      .where('status', '=', 'looking_up')
      .execute()
  }

  /**
   * Crash window: spending was resumed between the refusal of a charge and the parking of its lookup, and the order to resume
   * found nothing parked. Read after the commit, the switch is either off here, or the order that lifts it finds the lookup.
   */
  async function unparkWhenResumed(): Promise<void> {
    await sql`update lookups set due_at = ${now()}, queued_until = null
      where state = 'parked' and code = ${errorCode.stopped} and not ${isStopped}`.execute(db)
  }

  /** The same window, for an operation that a person has let go on: the worker read its state before. */
  async function unparkWhenOperationResumed(key: LookupKey): Promise<void> {
    await sql`update lookups set due_at = ${now()}, queued_until = null
      where key = ${key} and state = 'parked' and code = ${errorCode.operationStopped} and not exists (
        select from operation_states where operation_states.operation = lookups.operation and operation_states.state = 'stopped')`.execute(
      db,
    )
  }

  async function failBatch(key: LookupKey, reason: string): Promise<void> {
    await db.transaction().execute(async (tx) => {
      if (await mayDissolve(tx, key)) return dissolveBatch(tx, key, { alone: true }, now())
      // Crash window: a batch that may have been paid for stays together after any error, and is tried again. Marked in
      // this transaction, it is not bought again when its payment turns out to be unused: its lookups then go alone.
      await tx.updateTable('lookups').set({ alone: true }).where('key', '=', key).execute()
      const dueAt = new Date(now().getTime() + recheckMs)
      await parkIn(tx, key, { dueAt, code: 'bundle_open', reason })
    })
  }

  async function failPaidBatch(key: LookupKey, reason: string): Promise<void> {
    const ended = { state: 'failed' as const, reason, queued_until: null, bundle_key: null }
    await db
      .updateTable('lookups')
      .set(ended)
      .where((eb) => eb.or([eb('key', '=', key), eb('bundle_key', '=', key)]))
      .where('state', 'in', ['waiting', 'parked'])
      .execute()
    await db.updateTable('lookups').set({ request: '{}' }).where('key', '=', key).execute()
  }

  return {
    async storeFree(key, answer) {
      await storeSingles(db, [{ key, answer }], now())
    },

    postpone: (key, dueAt, reason, countsAsTry) =>
      move(key, { state: 'waiting', dueAt, reason, tries: countsAsTry ? 1 : 0 }),

    async park(key, dueAt, { code, reason }) {
      await db.transaction().execute(async (tx) => {
        if (await mayDissolve(tx, key)) {
          return dissolveBatch(tx, key, { parkedUntil: dueAt ?? indefinitely, code, reason }, now())
        }
        await parkIn(tx, key, { dueAt: dueAt ?? indefinitely, code, reason })
      })
      if (code === errorCode.stopped) await unparkWhenResumed()
      if (code === errorCode.operationStopped) await unparkWhenOperationResumed(key)
    },

    async parkRest(key, dueAt, { code, reason }, { slots, budget }) {
      const at = now()
      // A charge that is open may be withdrawn, or cost less than was reserved: then there is room again.
      const isSpent = budget
        ? sql`(select committed_atomic from budgets where scope = ${budget.scope})
            - (select coalesce(sum(amount_atomic), 0) from charges
              where state in ('journaled', 'sent', 'in_doubt') and ${budget.scope} = any(budget_scopes))
            + ${budget.amountAtomic}::bigint > ${budget.capAtomic}::bigint`
        : sql`true`
      const { rows } = await sql<{ parked: number }>`
        with alike as (
          select key from lookups
          where run_id = (select run_id from lookups where key = ${key}) and state = 'waiting' and bundle_key is null
            and query_id is null and tries = 0
            and (operation || case when operation = any(${typedOperations}::text[]) then ':' || substring(key from '[^|]*$') else '' end)
              = any(${[...slots]}::text[])
            and exists (select from tasks where waiting_for = lookups.key and status = 'looking_up')
            and not exists (select from charges where lookup_key = lookups.key and state = any(${[...openChargeStates]}::text[]))
            and ${isSpent}
          order by key collate "C" for update skip locked
        ), parked as (
          update lookups set state = 'parked', due_at = ${dueAt ?? indefinitely}, reason = ${reason}, code = ${code}, queued_until = null
          from alike where lookups.key = alike.key returning lookups.key
        ), waiting as (
          update tasks set status = 'parked', reason = ${reason}, updated_at = ${at}
          from parked where waiting_for = parked.key and status = 'looking_up'
        )
        select count(*)::int as parked from parked`.execute(db)
      if (code === errorCode.stopped) await unparkWhenResumed()
      return rows[0]?.parked ?? 0
    },

    async fail(key, reason, isPaid = false) {
      if (isBatchKey(key)) return isPaid ? failPaidBatch(key, reason) : failBatch(key, reason)
      await db
        .updateTable('lookups')
        .set({ state: 'failed', reason, queued_until: null })
        .where('key', '=', key)
        .where('state', 'in', ['waiting', 'parked'])
        .execute()
    },
  }
}

/** True for a batch that was not paid for and has no open charge. Its lookups can then wait one by one. */
async function mayDissolve(tx: Transaction<Tables>, key: LookupKey): Promise<boolean> {
  if (!isBatchKey(key)) return false
  // The lock needs a statement of its own: a statement that waits for a lock still sees the charges from before the wait.
  await sql`select from lookups where key = ${key} for no key update`.execute(tx)
  const { rows } = await sql<{ key: string }>`
    select key from lookups where key = ${key} and state in ('waiting', 'parked') and query_id is null
      and not exists (select 1 from charges where lookup_key = ${key} and state in ('journaled', 'sent', 'in_doubt'))`.execute(
    tx,
  )
  return rows.length > 0
}
