import { sql, type Selectable, type Transaction } from 'kysely'
import { RetriableError } from '../../domain/errors.ts'
import type { LookupKey } from '../../domain/keys.ts'
import { openChargeStates, type Charge } from '../../domain/payment.ts'
import type { ChargeJournal, NewCharge } from '../../domain/ports/charge-journal.ts'
import { storeAnswers } from './answers.ts'
import { paidFor, toCharge } from './charge-rows.ts'
import type { Database } from '../database/database.ts'
import { reserveCharges } from './reserve-charges.ts'
import type { Tables } from '../database/schema.ts'
import { settleCharges, type Settlement } from './settle-charges.ts'
import { moveBudget } from './actual-cost.ts'
import { isStopped } from './spend-switch.ts'
import { retryWhileAway } from '../database/retry-while-away.ts'
import { coalesceWhileBusy, type Each } from '../../timing/coalesce.ts'

type Marked = Awaited<ReturnType<ChargeJournal['markSent']>>
type Unanswered = Awaited<ReturnType<ChargeJournal['unanswered']>>

/**
 * The journal of charges on SQL. What each transaction guards is said at the payer, above its picture of the states. The steps
 * of a purchase are written in groups where many are under way (see `together`): each charge's own order of steps stays as it
 * is, since a step begins when the group of the one before has committed.
 */
export function createChargeJournal(
  db: Database,
  options: { now: () => Date; newId: () => string },
): ChargeJournal {
  const { now } = options

  async function reserveAll(charges: readonly NewCharge[]): Promise<Each<Charge>[]> {
    return db
      .transaction()
      .execute((tx) => reserveCharges(tx, charges, options))
      .catch((error: unknown) => {
        // Servers that derive their challenges from terms and time alone give the same one to two lookups in one instant.
        if ((error as { constraint?: string }).constraint !== 'charges_nonce_key') throw error
        const message = 'another lookup was given the same challenge'
        throw new RetriableError('challenge_taken', message, { retryAfterMs: 50, countsAsTry: false })
      })
  }

  async function unansweredAll(keys: readonly LookupKey[]): Promise<Each<Unanswered>[]> {
    const { rows } = await sql<Selectable<Tables['charges']> & { wanted: LookupKey }>`
      select * from ${paidFor(keys, sql`*`)} where state = any(${[...openChargeStates, 'lost']}::text[])`.execute(
      db,
    )
    const byKey = Map.groupBy(rows, ({ wanted }) => wanted)
    return keys.map((key) => {
      const ofKey = byKey.get(key) ?? []
      // What is open for its bundle is the bundle's.
      const open = ofKey.find((row) => row.state !== 'lost' && row.lookup_key === key)
      const lost = ofKey.filter((row) => row.state === 'lost').length
      return { ok: { open: open && toCharge(open), lost } }
    })
  }

  async function markAllSent(sendings: readonly { id: string; at: Date }[]): Promise<Each<Marked>[]> {
    const ids = sendings.map(({ id }) => id)
    // The first time counts: how long an answer may still be on its way is measured from there.
    const { rows } = await sql<{ id: string }>`
      update charges set state = 'sent', sends = sends + 1, sent_at = coalesce(sent_at, sending.at), touched_at = sending.at
      from jsonb_to_recordset(${JSON.stringify(sendings)}::jsonb) as sending (id text, at timestamptz)
      where charges.id = sending.id and state = any(${[...openChargeStates]}::text[])
        and (state <> 'journaled' or not ${isStopped}) returning charges.id`.execute(db)
    const marked = new Set(rows.map(({ id }) => id))
    const left = ids.filter((id) => !marked.has(id))
    const journaled = left.length === 0 ? [] : await stillJournaled(left)
    return ids.map((id) => ({
      ok: marked.has(id) ? 'sent' : journaled.includes(id) ? 'stopped' : 'closed',
    }))
  }

  async function stillJournaled(ids: readonly string[]): Promise<string[]> {
    const { rows } = await sql<{ id: string }>`
      select id from charges where id = any(${[...ids]}::text[]) and state = 'journaled'`.execute(db)
    return rows.map(({ id }) => id)
  }

  async function settleAll(settlements: readonly Settlement[]): Promise<Each<void>[]> {
    await inTransaction((tx) => settleCharges(tx, settlements, now()))
    return settlements.map(() => ({ ok: undefined }))
  }

  const reserve = coalesceWhileBusy(reserveAll, ({ lookupKey }) => lookupKey)
  const unanswered = coalesceWhileBusy(unansweredAll, (key) => key)
  const markSent = coalesceWhileBusy(markAllSent, ({ id }) => id)
  const settle = coalesceWhileBusy(settleAll, ({ id }) => id)

  /** Moves a charge that is still open; one that somebody else closed meanwhile stays as it is, and undefined is answered. */
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

  /** For an answer that is in hand: it waits for a database that is away. Both writes may be done twice. */
  function inTransaction(write: (tx: Transaction<Tables>) => Promise<void>): Promise<void> {
    return retryWhileAway(() => db.transaction().execute(write))
  }

  function giveBack(tx: Transaction<Tables>, row: { amount_atomic: bigint; budget_scopes: string[] }) {
    return moveBudget(tx, row.budget_scopes, -row.amount_atomic)
  }

  return {
    reserve,

    unanswered,

    async openCharges(before, limit) {
      const rows = await db
        .selectFrom('charges')
        .innerJoin('lookups', 'lookups.key', 'charges.lookup_key')
        .innerJoin('runs', 'runs.id', 'lookups.run_id')
        .selectAll('charges')
        .select(['lookups.state as lookup_state', 'lookups.query_id'])
        .where('charges.state', 'in', [...openChargeStates])
        .where('touched_at', '<', before)
        // Those of a lookup that is under way are a worker's.
        .where((eb) =>
          eb.or([
            eb('lookups.state', 'in', ['answered', 'failed', 'parked']),
            eb('runs.state', 'in', ['stopped', 'parked', 'finished', 'failed']),
          ]),
        )
        .orderBy('touched_at')
        .limit(limit)
        .execute()
      return rows.map((row) => ({
        ...toCharge(row),
        operation: row.operation,
        connector: row.connector,
        isAnswered: row.lookup_state === 'answered' || row.query_id !== null,
      }))
    },

    async touch(id) {
      await db.updateTable('charges').set({ touched_at: now() }).where('id', '=', id).execute()
    },

    markSent: (id, at) => markSent({ id, at }),

    async markInDoubt(id, reason) {
      await db
        .updateTable('charges')
        .set({ state: 'in_doubt', reason, touched_at: now() })
        .where('id', '=', id)
        .where('state', 'in', [...openChargeStates])
        .execute()
    },

    settleCharge: (id, receipt, answer) => settle({ id, receipt, answer }),

    async storeAnswer(id, reason, answer) {
      await inTransaction(async (tx) => {
        const row = await tx
          .updateTable('charges')
          .set({ state: 'in_doubt', reason, touched_at: now() })
          .where('id', '=', id)
          .where('state', 'in', [...openChargeStates])
          .returning(['lookup_key', 'amount_atomic', 'currency'])
          .executeTakeFirst()
        if (!row) return
        const paidBy = { id, amountAtomic: row.amount_atomic, currency: row.currency }
        await storeAnswers(tx, [{ key: row.lookup_key, answer, paidBy }], now())
      })
    },

    async storeFreeAnswer(key, answer) {
      await db.transaction().execute((tx) => storeAnswers(tx, [{ key, answer }], now()))
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

    async recordRefusal({ lookupKey, runId, endpoint, rule, message }) {
      await db
        .insertInto('refusals')
        .values({ lookup_key: lookupKey, run_id: runId, endpoint, rule, message, refused_at: now() })
        .execute()
    },
  }
}
