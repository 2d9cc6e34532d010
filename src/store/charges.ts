import { sql, type Selectable, type Transaction } from 'kysely'
import type { LookupKey } from '../domain/keys.ts'
import { BudgetExhaustedError, PaymentInDoubtError, RetriableError } from '../domain/errors.ts'
import { formatUsd } from '../domain/money.ts'
import { currencyOf, openChargeStates, type Authorization, type Charge } from '../domain/payment.ts'
import type { ChargeJournal, NewCharge } from '../domain/ports/charge-journal.ts'
import { storeAnswer } from './answers.ts'
import type { Database } from './database.ts'
import type { Tables } from './schema.ts'
import { moveBudget, settleTruth } from './settle-truth.ts'
import { throughOutage } from './through-outage.ts'
import { spendSwitchName } from './spend-switch.ts'

/** The journal of charges on SQL. What each transaction guards is said at the payer, above its picture of the states. */
export function createChargeJournal(
  db: Database,
  options: { now: () => Date; newId: () => string },
): ChargeJournal {
  const { now } = options

  async function reserve(charge: NewCharge): Promise<Charge> {
    return db
      .transaction()
      .execute((tx) => reserveIn(tx, charge))
      .catch((error: unknown) => {
        // Servers that derive their challenges from terms and time alone give the same one to two lookups in one instant.
        if ((error as { constraint?: string }).constraint !== 'charges_nonce_key') throw error
        const message = 'another lookup was given the same challenge'
        throw new RetriableError('challenge_taken', message, { retryAfterMs: 50, countsAsTry: false })
      })
  }

  async function reserveIn(tx: Transaction<Tables>, charge: NewCharge): Promise<Charge> {
    // The lookup's row orders everybody who wants to pay for it: of two workers the second sees the first's charge. It has
    // to be a statement of its own, since one that waits for a lock goes on seeing the charges of before its wait.
    const { rows: locked } = await sql<{
      has_ended: boolean
      bundle_key: string | null
      is_stopped: boolean
    }>`
      select state in ('answered', 'failed') or query_id is not null as has_ended, bundle_key, exists (select 1 from switches where name = ${spendSwitchName} and is_on) as is_stopped
      from lookups where key = ${charge.lookupKey} for update`.execute(tx)
    if (locked[0]?.is_stopped) {
      throw new BudgetExhaustedError('stopped', 'spending is stopped (lift it with `paydirt spend --resume`)')
    }
    // Somebody else has bought it while this one waited for its turn: there is an answer, or one that is asked for.
    if (locked[0]?.has_ended) {
      throw new RetriableError('ended_meanwhile', 'the lookup has ended meanwhile', {
        retryAfterMs: 50,
        countsAsTry: false,
      })
    }
    if (locked[0]?.bundle_key) {
      throw new RetriableError('bundled', 'the lookup is out together with others', { countsAsTry: false })
    }
    const { rows } = await sql<{ attempts: number; open: number }>`
      select coalesce(max(attempt) filter (where lookup_key = ${charge.lookupKey}), 0)::int as attempts,
        count(*) filter (where state in ('journaled', 'sent', 'in_doubt'))::int as open
      from charges where ${paidFor(charge.lookupKey)}`.execute(tx)
    const { attempts = 0, open = 0 } = rows[0] ?? {}
    if (open > 0) throw new PaymentInDoubtError('charge_open', 'another charge for this lookup is still open')
    await commitBudget(tx, charge)
    const attempt = attempts + 1
    const authorization = charge.draw(attempt)
    const at = now()
    const row = await tx
      .insertInto('charges')
      .values({
        id: options.newId(),
        lookup_key: charge.lookupKey,
        attempt,
        run_id: charge.runId,
        connector: charge.connector,
        operation: charge.operation,
        endpoint: charge.endpoint,
        url: charge.url,
        body: charge.body,
        protocol: authorization.terms.protocol,
        currency: currencyOf(authorization.terms.protocol),
        amount_atomic: charge.amountAtomic,
        authorization_json: writeAuthorization(authorization),
        nonce: authorization.nonce,
        budget_scopes: charge.budget.map(({ scope }) => scope),
        state: 'journaled',
        created_at: at,
        touched_at: at,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    return toCharge(row)
  }

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
    return throughOutage(() => db.transaction().execute(write))
  }

  function giveBack(tx: Transaction<Tables>, row: { amount_atomic: bigint; budget_scopes: string[] }) {
    return moveBudget(tx, row.budget_scopes, -row.amount_atomic)
  }

  return {
    reserve,

    async unanswered(key) {
      const rows = await db
        .selectFrom('charges')
        .selectAll()
        .where(paidFor(key))
        .where('state', 'in', [...openChargeStates, 'lost'])
        .execute()
      // What is open for its bundle is the bundle's.
      const open = rows.find((row) => row.state !== 'lost' && row.lookup_key === key)
      return { open: open && toCharge(open), lost: rows.filter((row) => row.state === 'lost').length }
    },

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

    async markSent(id, at) {
      const { numUpdatedRows } = await db
        .updateTable('charges')
        // The first time counts: how long an answer may still be on its way is measured from there.
        .set((eb) => ({
          state: 'sent',
          sends: eb('sends', '+', 1),
          sent_at: eb.fn.coalesce('sent_at', eb.val(at)),
          touched_at: at,
        }))
        .where('id', '=', id)
        .where('state', 'in', [...openChargeStates])
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    async markInDoubt(id, reason) {
      await db
        .updateTable('charges')
        .set({ state: 'in_doubt', reason, touched_at: now() })
        .where('id', '=', id)
        .where('state', 'in', [...openChargeStates])
        .execute()
    },

    async settle(id, receipt, answer) {
      await inTransaction(async (tx) => {
        // A worker that slept past its lock may bring the answer to a charge already counted as lost: it was paid, and here is the data.
        const row = await tx
          .updateTable('charges')
          .set({
            state: 'settled',
            transaction: receipt.transaction,
            reason: null,
            credits_atomic: receipt.creditsAtomic ?? null,
            closed_at: receipt.at,
            touched_at: receipt.at,
          })
          .where('id', '=', id)
          .where('state', 'in', [...openChargeStates, 'lost'])
          .returning(['lookup_key', 'currency', 'amount_atomic', 'budget_scopes'])
          .executeTakeFirst()
        if (!row) return
        const amountAtomic = await settleTruth(tx, id, row, receipt.creditsAtomic)
        await storeAnswer(tx, row.lookup_key, answer, now(), { id, amountAtomic, currency: row.currency })
      })
    },

    async keepAnswer(id, reason, answer) {
      await inTransaction(async (tx) => {
        const row = await tx
          .updateTable('charges')
          .set({ state: 'in_doubt', reason, touched_at: now() })
          .where('id', '=', id)
          .where('state', 'in', [...openChargeStates])
          .returning(['lookup_key', 'amount_atomic', 'currency'])
          .executeTakeFirst()
        if (row)
          await storeAnswer(tx, row.lookup_key, answer, now(), {
            id,
            amountAtomic: row.amount_atomic,
            currency: row.currency,
          })
      })
    },

    async keepFree(key, answer) {
      await db.transaction().execute((tx) => storeAnswer(tx, key, answer, now()))
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

/**
 * Charges for a lookup itself, and for requests in which it went out together with others. One list of keys and not an
 * `or`, which no index serves: every purchase would read all charges.
 */
function paidFor(key: LookupKey) {
  return sql<boolean>`lookup_key = any(array(select bundle_key from bundle_members where lookup_key = ${key}) || ${key}::text)`
}

/**
 * Adds the amount to every line at once, each only as far as its cap allows: the rows' locks make two racing processes
 * take turns. One line left out means one cap reached, and the whole transaction goes back. Scopes are sorted, so that
 * transactions lock them in the same order.
 */
async function commitBudget(tx: Transaction<Tables>, charge: NewCharge): Promise<void> {
  const amount = charge.amountAtomic
  const lines = [...charge.budget].sort((a, b) => (a.scope < b.scope ? -1 : 1))
  const tooSmall = lines.find(({ capAtomic }) => amount > capAtomic)
  if (tooSmall) throw exhausted(tooSmall)
  const values = sql.join(
    lines.map(({ scope, capAtomic }) => sql`(${scope}::text, ${amount}::bigint, ${capAtomic}::bigint)`),
  )
  const { rows } = await sql<{ scope: string }>`
    with wanted (scope, amount, cap) as (values ${values})
    insert into budgets (scope, committed_atomic) select scope, amount from wanted
    on conflict (scope) do update set committed_atomic = budgets.committed_atomic + excluded.committed_atomic
    where budgets.committed_atomic + excluded.committed_atomic
      <= (select cap from wanted where wanted.scope = budgets.scope)
    returning scope`.execute(tx)
  const committed = new Set(rows.map(({ scope }) => scope))
  const full = lines.find(({ scope }) => !committed.has(scope))
  if (full) throw exhausted(full)
}

function exhausted(line: NewCharge['budget'][number]): BudgetExhaustedError {
  const words = line.scope.split(':')
  const isCredits = words[0] === 'credits'
  const window = words[isCredits ? 1 : 0] ?? ''
  return new BudgetExhaustedError(
    `budget_${window}`,
    `the budget of this ${window} (${formatUsd(line.capAtomic)} ${isCredits ? 'credits' : 'USD'}) is used up`,
    {
      ...(line.resumesAt ? { resumesAt: line.resumesAt } : {}),
      details: { scope: line.scope },
    },
  )
}

function toCharge(row: Selectable<Tables['charges']>): Charge {
  return {
    id: row.id,
    lookupKey: row.lookup_key,
    attempt: row.attempt,
    runId: row.run_id,
    state: row.state,
    authorization: readAuthorization(row.authorization_json, row.amount_atomic),
    url: row.url,
    body: row.body,
    sends: row.sends,
    createdAt: row.created_at,
    sentAt: row.sent_at,
    reason: row.reason,
  }
}

/** The amount stands in its own column; JSON has no integers of that size. */
function writeAuthorization(authorization: Authorization): string {
  const { amountAtomic: _, ...terms } = authorization.terms
  return JSON.stringify({ ...authorization, terms })
}

function readAuthorization(json: Record<string, unknown>, amountAtomic: bigint): Authorization {
  const authorization = json as unknown as Authorization
  return { ...authorization, terms: { ...authorization.terms, amountAtomic } }
}
