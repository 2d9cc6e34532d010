import { sql, type RawBuilder } from 'kysely'
import { creditsFromUsd, usdFromCredits } from '../../domain/credits.ts'
import { errorCode } from '../../domain/error-codes.ts'
import type { Atomic } from '../../domain/money.ts'
import type { Database } from '../database/database.ts'

/** The budgets of a run, in both currencies (pay/limits/budget.ts). */
const scopesOf = (runId: string) => ({ usd: `run:${runId}`, credits: `credits:run:${runId}` })

/**
 * Caps a run at the cost of its plan, before its first charge. A budget that is there already keeps its cap, which a person may
 * have lifted. The statement that reserves a charge compares with it (ledger/reserve-charges.ts), so that it holds in every
 * process and whatever has changed since: prices, caps, stale answers.
 */
export async function capByPlan(db: Database, runId: string, highAtomic: Atomic): Promise<void> {
  const { usd, credits } = scopesOf(runId)
  await db
    .insertInto('budgets')
    .values([
      { scope: usd, committed_atomic: 0n, cap_atomic: highAtomic },
      { scope: credits, committed_atomic: 0n, cap_atomic: creditsFromUsd(highAtomic) },
    ])
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/**
 * Lets a run of a plan spend so much more than it has until now, and never more than the cost of its plan. Each command that carries the
 * plan on has a budget of its own. A cap that a person has lifted stays lifted.
 */
export async function allowWithinPlan(
  db: Database,
  runId: string,
  { highAtomic, mostAtomic = highAtomic }: { highAtomic: Atomic; mostAtomic?: Atomic | undefined },
): Promise<void> {
  await capByPlan(db, runId, mostAtomic < highAtomic ? mostAtomic : highAtomic)
  const { usd, credits } = scopesOf(runId)
  const [high, more] = [creditsFromUsd(highAtomic), creditsFromUsd(mostAtomic)]
  await sql`
    update budgets set cap_atomic = least(given.high, committed_atomic + given.more)
    from (values (${usd}, ${highAtomic}::bigint, ${mostAtomic}::bigint), (${credits}, ${high}::bigint, ${more}::bigint))
      as given (scope, high, more)
    where budgets.scope = given.scope and cap_atomic is not null`.execute(db)
}

/** Returns what a run has spent and reserved, in both currencies together. */
export async function committedBy(db: Database, runId: string): Promise<Atomic> {
  const { usd, credits } = scopesOf(runId)
  const rows = await db
    .selectFrom('budgets')
    .select(['scope', 'committed_atomic'])
    .where('scope', 'in', [usd, credits])
    .execute()
  return rows.reduce(
    (sum, { scope, committed_atomic: atomic }) => sum + (scope === usd ? atomic : usdFromCredits(atomic)),
    0n,
  )
}

/** Returns the plan's cap of a budget; undefined where it has none. */
export async function planCapOf(db: Database, scope: string): Promise<Atomic | undefined> {
  const { rows } = await sql<{ cap: Atomic | null }>`
    select cap_atomic as cap from budgets where scope = ${scope}`.execute(db)
  return rows[0]?.cap ?? undefined
}

/**
 * Lifts the caps of plans that have parked these lookups, for use inside the statement that makes them due: a person who
 * retries them was told that the plan's cost is used up. The caps of the settings hold from then on. `held`: a query of keys.
 */
export const liftPlanCaps = (held: RawBuilder<unknown>) => sql`
  update budgets set cap_atomic = null from lookups as held
  where held.key in (${held}) and held.state = 'parked' and held.code = ${errorCode.planCost}
    and budgets.cap_atomic is not null and budgets.scope in ('run:' || held.run_id, 'credits:run:' || held.run_id)`
