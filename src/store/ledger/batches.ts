import { sql, type Transaction } from 'kysely'
import { defaultNetworkHosts, type LookupKey } from '../../domain/keys.ts'
import type { StoredAnswer } from '../../domain/ports/charge-journal.ts'
import type { LookupRequest } from '../../domain/record.ts'
import type { Operation } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'
import { storeAnswers } from './answers.ts'
import type { Tables } from '../database/tables/schema.ts'
import { actualCost } from './actual-cost.ts'

/** A lookup that may go out in a batch. */
export interface Batchable {
  key: LookupKey
  operation: Operation
  request: LookupRequest
  runId: string
  connector: string
}

interface NewBatch {
  key: LookupKey
  operation: Operation
  /** The request body, with an entry for each place. */
  request: LookupRequest
  runId: string
  connector: string
  /** `place` is the index of the entry that asks for the lookup. */
  members: readonly { key: LookupKey; place: number }[]
}

export interface BatchLedger {
  /** Returns the lookups among these that were never tried. A lookup that has a charge, or was tried alone, stays alone. */
  batchable(keys: readonly LookupKey[], operations: readonly Operation[]): Promise<Batchable[]>
  /**
   * Takes all members, or none. Returns false when one of them was answered, bought or batched since. No member is bought by
   * itself from now until the batch has ended.
   */
  form(batch: NewBatch, leasedUntil: Date): Promise<boolean>
  members(key: LookupKey): Promise<{ key: LookupKey; place: number }[]>
  /** Stores the answer of a batch that was started and paid for before. `creditsAtomic` is what the service says that it cost. */
  complete(key: LookupKey, answer: StoredAnswer, creditsAtomic?: bigint): Promise<void>
}

export function createBatchLedger(
  db: Database,
  { now, hosts = defaultNetworkHosts }: { now: () => Date; hosts?: readonly string[] },
): BatchLedger {
  return {
    async batchable(keys, operations) {
      if (keys.length === 0) return []
      const { rows } = await sql<Batchable>`
        select key, operation, request, run_id as "runId", connector from lookups
        where key = any(${[...keys]}) and operation = any(${[...operations]}) and state = 'waiting' and tries = 0
          and bundle_key is null and not alone and not hot and request->'peoples' is null
          and ${neverPaid}
        order by key`.execute(db)
      return rows
    },

    async form(batch, leasedUntil) {
      const { key, operation, request, runId, connector, members } = batch
      const keys = members.map((member) => member.key)
      const at = now()
      return db
        .transaction()
        .execute(async (tx) => {
          await tx
            .insertInto('lookups')
            .values({
              key,
              operation,
              request: JSON.stringify(request),
              state: 'waiting',
              run_id: runId,
              connector,
              due_at: at,
              queued_until: leasedUntil,
            })
            .execute()
          // Reserving a charge for a member locks the same row. The lock needs a statement of its own: a statement that waits
          // for a lock still sees the charges from before the wait.
          await sql`select from lookups where key = any(${keys}) order by key collate "C" for no key update`.execute(
            tx,
          )
          const { rows } = await sql<{ key: LookupKey }>`
            update lookups set bundle_key = ${key}, queued_until = null
            where key = any(${keys}) and state = 'waiting' and bundle_key is null and not alone and not hot and ${neverPaid}
            returning key`.execute(tx)
          if (rows.length < keys.length) throw new MemberTaken()
          await tx
            .insertInto('bundle_members')
            .values(
              members.map((member) => ({ bundle_key: key, lookup_key: member.key, place: member.place })),
            )
            .execute()
          return true
        })
        .catch((error: unknown) => {
          if (error instanceof MemberTaken) return false
          throw error
        })
    },

    async members(key) {
      const rows = await db
        .selectFrom('bundle_members')
        .select(['lookup_key', 'place'])
        .where('bundle_key', '=', key)
        .orderBy('place')
        .orderBy('lookup_key')
        .execute()
      return rows.map((row) => ({ key: row.lookup_key, place: row.place }))
    },

    async complete(key, answer, creditsAtomic) {
      await db.transaction().execute(async (tx) => {
        const charge = await tx
          .updateTable('charges')
          .set((eb) => ({ credits_atomic: creditsAtomic ?? eb.ref('credits_atomic') }))
          .where('lookup_key', '=', key)
          .where('state', '=', 'settled')
          .returning(['id', 'currency', 'amount_atomic', 'budget_scopes'])
          .executeTakeFirst()
        const paidBy = charge && {
          id: charge.id,
          currency: charge.currency,
          amountAtomic: await actualCost(tx, charge.id, charge, creditsAtomic),
        }
        const ofMembers = { ...answer, parts: answer.parts ?? new Map() }
        const row = { key, answer: ofMembers, ...(paidBy ? { paidBy } : {}) }
        await storeAnswers(tx, [row], { at: now(), hosts })
      })
    },
  }
}

/**
 * True for a lookup without a charge of its own and without a lost batch. A lookup that was paid for once without an answer
 * goes alone, where its losses are counted.
 */
const neverPaid = sql`not exists (select 1 from charges where charges.lookup_key = lookups.key)
  and not exists (select 1 from bundle_members join charges on charges.lookup_key = bundle_members.bundle_key
    where bundle_members.lookup_key = lookups.key and charges.state = 'lost')`

/** Rolls back a transaction in which a member was no longer free. */
class MemberTaken extends Error {}

/**
 * Frees the members of a batch that was never paid for. `alone`: the batch request may be at fault, so each member goes by
 * itself from now on. With a cause: the cause that kept the batch from being bought parks each member.
 */
export async function dissolveBatch(
  tx: Transaction<Tables>,
  batch: LookupKey,
  change: { alone: true } | { parkedUntil: Date; code: string; reason: string },
  at: Date,
): Promise<void> {
  if ('alone' in change) {
    await tx
      .updateTable('lookups')
      .set({ bundle_key: null, alone: true, due_at: at, queued_until: null, tries: 0 })
      .where('bundle_key', '=', batch)
      .execute()
  } else {
    const { parkedUntil, code, reason } = change
    const members = await tx
      .updateTable('lookups')
      .set({ bundle_key: null, state: 'parked', due_at: parkedUntil, code, reason, queued_until: null })
      .where('bundle_key', '=', batch)
      .returning('key')
      .execute()
    await tx
      .updateTable('tasks')
      .set({ status: 'parked', reason, updated_at: at })
      .where(
        'waiting_for',
        'in',
        members.map(({ key }) => key),
      )
      .where('status', '=', 'looking_up')
      .execute()
  }
  await tx
    .updateTable('lookups')
    .set({ state: 'failed', request: '{}', reason: 'dissolved', queued_until: null })
    .where('key', '=', batch)
    .execute()
}
