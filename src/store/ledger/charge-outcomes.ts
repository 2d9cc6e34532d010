import type { Transaction } from 'kysely'
import { openChargeStates, type Charge } from '../../domain/payment.ts'
import type { ChargeJournal } from '../../domain/ports/charge-journal.ts'
import type { Database } from '../database/database.ts'
import { retryWhileAway } from '../database/retry-while-away.ts'
import type { Tables } from '../database/tables/schema.ts'
import { moveBudget } from './actual-cost.ts'
import { storeAnswers } from './answers.ts'

/** Every outcome of a charge but the ordinary one, in which answer and proof of payment arrive together. */
export function createChargeOutcomes(
  db: Database,
  { now, hosts }: { now: () => Date; hosts: readonly string[] },
): Pick<ChargeJournal, 'markInDoubt' | 'storeAnswer' | 'confirm' | 'release' | 'withdraw' | 'lose'> {
  /** Closes a charge that is still open. Returns undefined, and changes nothing, when it was closed before. */
  function close(
    tx: Transaction<Tables>,
    id: string,
    change: { state: Charge['state']; reason?: string | null; transaction?: string | null },
    from: readonly Charge['state'][] = openChargeStates,
  ) {
    return tx
      .updateTable('charges')
      .set({ ...change, closed_at: now(), touched_at: now() })
      .where('id', '=', id)
      .where('state', 'in', [...from])
      .returning(['lookup_key', 'amount_atomic', 'budget_scopes'])
      .executeTakeFirst()
  }

  function giveBack(tx: Transaction<Tables>, row: { amount_atomic: bigint; budget_scopes: string[] }) {
    return moveBudget(tx, row.budget_scopes, -row.amount_atomic)
  }

  return {
    async markInDoubt(id, reason) {
      await db
        .updateTable('charges')
        .set({ state: 'in_doubt', reason, touched_at: now() })
        .where('id', '=', id)
        .where('state', 'in', [...openChargeStates])
        .execute()
    },

    /** Waits for a database that is away, because an answer has arrived. The write may be repeated. */
    async storeAnswer(id, reason, answer) {
      async function write(tx: Transaction<Tables>): Promise<void> {
        const row = await tx
          .updateTable('charges')
          .set({ state: 'in_doubt', reason, touched_at: now() })
          .where('id', '=', id)
          .where('state', 'in', [...openChargeStates])
          .returning(['lookup_key', 'amount_atomic', 'currency'])
          .executeTakeFirst()
        if (!row) return
        const paidBy = { id, amountAtomic: row.amount_atomic, currency: row.currency }
        await storeAnswers(tx, [{ key: row.lookup_key, answer, paidBy }], { at: now(), hosts })
      }
      await retryWhileAway(() => db.transaction().execute(write))
    },

    async confirm(id, transaction, at) {
      await db
        .updateTable('charges')
        .set({ state: 'settled', transaction, closed_at: at, touched_at: at })
        .where('id', '=', id)
        .where('state', 'in', [...openChargeStates])
        .execute()
    },

    async release(id, state, reason) {
      await db.transaction().execute(async (tx) => {
        const row = await close(tx, id, { state, reason })
        if (row) await giveBack(tx, row)
      })
    },

    async withdraw(id) {
      return db.transaction().execute(async (tx) => {
        const row = await close(tx, id, { state: 'declined', reason: 'never sent' }, ['journaled'])
        if (row) await giveBack(tx, row)
        return row !== undefined
      })
    },

    async lose(id, transaction, reason) {
      await db.transaction().execute((tx) => close(tx, id, { state: 'lost', transaction, reason }))
    },
  }
}
