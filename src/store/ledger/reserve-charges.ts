import { sql, type RawBuilder, type Transaction } from 'kysely'
import {
  BudgetExhaustedError,
  PaymentInDoubtError,
  RetriableError,
  runStopped,
  spendingStopped,
} from '../../domain/errors.ts'
import { errorCode } from '../../domain/error-codes.ts'
import { formatUsd } from '../../domain/money.ts'
import { currencyOf, type Charge } from '../../domain/payment.ts'
import type { BudgetLine, NewCharge } from '../../domain/ports/charge-journal.ts'
import { planCapOf } from '../runs/plan-cap.ts'
import {
  findNamesakes,
  lockLookups,
  refuseBoughtElsewhere,
  type ChargesBefore,
  type LookupLocked,
} from './bought-elsewhere.ts'
import { writeAuthorization } from './charge-rows.ts'
import { inOneTrip, type Ending } from '../database/postgres/one-trip.ts'
import { rowForms, type RowForms } from '../database/row-forms.ts'
import type { Tables } from '../database/tables/schema.ts'
import { claimPayments, type Claim } from '../restored/claim-payments.ts'
import { drawCharges, type DrawnCharge } from '../restored/draw-charges.ts'
import type { Each } from '../../timing/coalesce.ts'

type Tx = Transaction<Tables>

/**
 * Reserves the budget and journals a charge for each lookup that may be paid for. Each other lookup gets an error of its own.
 * Throws when the group as a whole fails: the budget is too small for all of them, or a nonce is taken. With an ending, either is an
 * error of the database, and the same is then done without.
 */
export async function reserveCharges(
  tx: Tx,
  charges: readonly NewCharge[],
  options: { now: () => Date; newId: () => string; hosts: readonly string[] },
  ending: Ending,
): Promise<Each<Charge>[]> {
  const keys = charges.map(({ lookupKey }) => lookupKey)
  const namesakes = await findNamesakes(tx, keys, options.hosts)
  const { states, before } = await lockLookups(tx, keys, namesakes)
  const elsewhere = await refuseBoughtElsewhere(tx, namesakes, { existing: states, at: options.now() })
  const checked = charges.map((charge) => ({
    charge,
    error:
      refusal(states.get(charge.lookupKey), before.get(charge.lookupKey)) ?? elsewhere.get(charge.lookupKey),
  }))
  const allowed = checked.filter(({ error }) => !error).map(({ charge }) => charge)
  if (allowed.length === 0) return checked.map(({ error }) => ({ error }))
  const drawn = await drawCharges(
    tx,
    allowed.map((charge) => {
      const salt = states.get(charge.lookupKey)?.salt ?? null
      return {
        charge,
        attempts: before.get(charge.lookupKey)?.attempts ?? 0,
        draw: (attempt: number) => charge.draw(attempt, salt),
      }
    }),
    {
      mayClaim: [...states.values()].some(({ has_unclaimed: has }) => has),
      newId: options.newId,
      atOnce: ending.length > 0,
    },
  )
  const paid = drawn.filter(({ isPaid }) => isPaid)
  const bought = drawn.filter(({ isPaid }) => !isPaid)
  const at = options.now()
  if (bought.length > 0) await insertWithinBudget(tx, bought, { at, ending: paid.length > 0 ? [] : ending })
  await claimPayments(
    tx,
    paid.map((each) => claimOf(each, rowForms(tx))),
    at,
  )
  const journaled = new Map(drawn.map((each) => [each.charge.lookupKey, journaledCharge(each, at)]))
  return checked.map(({ charge: { lookupKey }, error }) => {
    const ok = journaled.get(lookupKey)
    return ok && !error ? { ok } : { error }
  })
}

type Drawn = DrawnCharge<NewCharge>

function claimOf({ charge, id, attempt, authorization }: Drawn, forms: RowForms): Claim {
  return {
    id,
    nonce: authorization.nonce,
    lookup_key: charge.lookupKey,
    attempt,
    run_id: charge.runId,
    connector: charge.connector,
    operation: charge.operation,
    endpoint: charge.endpoint,
    url: charge.url,
    body: charge.body,
    authorization_text: forms.authorization(writeAuthorization(authorization)),
  }
}

/** The charges go as one parameter, so that the statement is the same each time. */
function insertCharges(forms: RowForms, drawn: readonly Drawn[], at: Date): RawBuilder<unknown> {
  const rows = drawn.map(({ charge, id, attempt, authorization }) => ({
    id,
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
    amount_atomic: String(charge.amountAtomic),
    // Text keeps the order of the keys, which is part of the bytes that are sent again after a crash.
    authorization_text: forms.authorization(writeAuthorization(authorization)),
    nonce: authorization.nonce,
    payer: authorization.payer,
    pay_to: authorization.terms.payTo,
    scopes: charge.budget.map(({ scope }) => scope),
  }))
  return sql`
    insert into charges (id, lookup_key, attempt, run_id, connector, operation, endpoint, url, body, protocol, currency,
      amount_atomic, authorization_json, nonce, payer, pay_to, budget_scopes, state, created_at, touched_at)
    select id, lookup_key, attempt, run_id, connector, operation, endpoint, url, body, protocol, currency,
      amount_atomic, authorization_text::json, nonce, payer, pay_to, array(select jsonb_array_elements_text(scopes)), 'journaled', ${at}, ${at}
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as drawn (id text, lookup_key text, attempt int, run_id text,
      connector text, operation text, endpoint text, url text, body text, protocol text, currency text, amount_atomic bigint,
      authorization_text text, nonce text, payer text, pay_to text, scopes jsonb)`
}

function journaledCharge({ charge, id, attempt, authorization, isPaid }: Drawn, at: Date): Charge {
  const { lookupKey, runId, url, body } = charge
  return {
    id,
    lookupKey,
    attempt,
    runId,
    state: isPaid ? 'in_doubt' : 'journaled',
    authorization,
    url,
    body,
    sends: isPaid ? 1 : 0,
    createdAt: at,
    // Long ago: no answer of it is on its way.
    sentAt: isPaid ? new Date(0) : null,
    reason: null,
  }
}

function refusal(lookup: LookupLocked | undefined, before: ChargesBefore | undefined): Error | undefined {
  if (lookup?.is_stopped) return spendingStopped()
  if (lookup?.run_is_stopped) return runStopped()
  // While this worker waited, another bought it (it has an answer, or its request was started), or it was forgotten.
  if (!lookup || lookup.has_ended) {
    const options = { retryAfterMs: 50, countsAsTry: false }
    return new RetriableError('ended_meanwhile', 'the lookup has ended in the meantime', options)
  }
  if (lookup.bundle_key) {
    return new RetriableError('bundled', 'the lookup is out in a batch', { countsAsTry: false })
  }
  if (before && before.open > 0) {
    return new PaymentInDoubtError('charge_open', 'another charge for this lookup is still open')
  }
  return undefined
}

/**
 * Stores charges, and adds their amounts to all budget lines, each up to its cap. Row locks serialise racing processes. A line that is
 * not returned has reached its cap, or that of its plan (runs/plan-cap.ts), and the whole transaction rolls back. Scopes are
 * sorted, so that all transactions lock them in the same order. The lines come last: every process changes the same few, and waits
 * for whoever has changed them and not committed yet. With an ending, a line that has reached its cap is an error of the database, so
 * that what is behind it commits nothing.
 */
async function insertWithinBudget(
  tx: Tx,
  drawn: readonly Drawn[],
  { at, ending }: { at: Date; ending: Ending },
): Promise<void> {
  const lines = totals(drawn.map(({ charge }) => charge))
  const tooSmall = lines.find(({ amountAtomic, capAtomic }) => amountAtomic > capAtomic)
  if (tooSmall) throw exhausted(tooSmall)
  const values = sql.join(
    lines.map(
      ({ scope, amountAtomic, capAtomic }) =>
        sql`(${scope}::text, ${amountAtomic}::bigint, ${capAtomic}::bigint)`,
    ),
  )
  // One row, whatever was added. With a line too few it has no number, and the server's log says why.
  const least = ending.length > 0 ? lines.length : 0
  const [, { rows }] = await inOneTrip<[unknown, { scopes: string[] }, ...unknown[]]>(
    tx,
    insertCharges(rowForms(tx), drawn, at),
    sql`
    with wanted (scope, amount, cap) as (values ${values}), added as (
      insert into budgets (scope, committed_atomic) select scope, amount from wanted
      on conflict (scope) do update set committed_atomic = budgets.committed_atomic + excluded.committed_atomic
      where budgets.committed_atomic + excluded.committed_atomic
        <= least((select cap from wanted where wanted.scope = budgets.scope), budgets.cap_atomic)
      returning scope
    )
    select coalesce(array_agg(scope), '{}') as scopes, case when count(*) >= ${least}::int then count(*)
      else ('a budget is used up; lines with room: ' || count(*))::bigint end as lines
    from added`,
    ...ending,
  )
  const added = new Set(rows[0]?.scopes)
  const full = lines.find(({ scope }) => !added.has(scope))
  if (full) throw exhausted(full, await planCapOf(tx, full.scope))
}

/**
 * Sums what a group adds to each line. When two charges give different caps for a line, the lower one counts; the group may
 * then fail, and each charge is tried by itself.
 */
function totals(charges: readonly NewCharge[]): (BudgetLine & { amountAtomic: bigint })[] {
  const byScope = new Map<string, BudgetLine & { amountAtomic: bigint }>()
  for (const { budget, amountAtomic } of charges) {
    for (const line of budget) {
      const sum = byScope.get(line.scope)
      const least = sum && sum.capAtomic < line.capAtomic ? sum : line
      byScope.set(line.scope, { ...least, amountAtomic: (sum?.amountAtomic ?? 0n) + amountAtomic })
    }
  }
  return [...byScope.values()].sort((a, b) => (a.scope < b.scope ? -1 : 1))
}

function exhausted(
  line: BudgetLine & { amountAtomic: bigint },
  planCapAtomic?: bigint,
): BudgetExhaustedError {
  const words = line.scope.split(':')
  const isCredits = words[0] === 'credits'
  if (planCapAtomic !== undefined && planCapAtomic < line.capAtomic) {
    return new BudgetExhaustedError(
      errorCode.planCost,
      `the run has spent what its plan said (${formatUsd(planCapAtomic)} ${isCredits ? 'credits' : 'USD'}): prices, answers or caps have changed since`,
      { details: { scope: line.scope, cap: String(planCapAtomic), amount: String(line.amountAtomic) } },
    )
  }
  const window = words[isCredits ? 1 : 0] ?? ''
  return new BudgetExhaustedError(
    `budget_${window}`,
    `the budget of this ${window} (${formatUsd(line.capAtomic)} ${isCredits ? 'credits' : 'USD'}) is used up`,
    {
      resumesAt: line.resumesAt,
      details: { scope: line.scope, cap: String(line.capAtomic), amount: String(line.amountAtomic) },
    },
  )
}
