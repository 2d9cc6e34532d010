import { InputError } from '../../domain/errors.ts'
import { formatUsd, type Atomic } from '../../domain/money.ts'
import { usdFromCredits } from '../../domain/credits.ts'
import { operationRow, slotsOf } from '../../domain/operations.ts'
import type { Operation } from '../../domain/words.ts'
import type { Contract } from '../../service/catalogue/catalogue.ts'
import type { Config } from '../config/config.ts'
import type { Context } from '../context/context.ts'
import { openCalls, withCallCap, type CallEnd } from './call-session.ts'
import { describeOperations } from './describe-operations.ts'
import { knownOfAccount, withAcceptedNames } from './known-of-account.ts'
import { liveBody } from './live-bodies.ts'
import { readReferences, sourcesOf, type Sourced } from './live-references.ts'
import { assertAccess, planCall, type PlannedCall } from './plan-call.ts'

/** The settings and subjects that checks are planned with. */
type Planning = Pick<Context, 'config' | 'database' | 'openEngine' | 'now' | 'suppressions'>
interface Named {
  company: string | undefined
  /** The profile URL of a person. */
  person?: string | undefined
}

interface Cost {
  mostAtomic: Atomic
  priceAtomic: Atomic | undefined
}

/**
 * An unconfirmed operation with the request that would confirm it, or with the check whose answer it needs first, or the reason why
 * none is sent.
 */
export type LiveCheck =
  | ({ operation: Operation; call: PlannedCall } & Cost)
  | ({ operation: Operation; after: Operation; text: string } & Cost)
  | { operation: Operation; skipped: string }

/** Returns the settings under which no request of the checks costs more than its own limit, or than all of them may. */
export function withLiveCaps(config: Config, totalAtomic: Atomic): Config {
  return config.catalogue.all().reduce((settings, { operation }) => {
    const most = capOf(config, operation)
    return most < totalAtomic
      ? withCallCap(settings, operation, most, null)
      : withCallCap(settings, operation, totalAtomic)
  }, config)
}

function capOf({ policy }: Config, operation: Operation): Atomic {
  const [slot] = slotsOf(operation)
  return (slot && policy.maxPrices?.[slot]) ?? policy.maxPriceAtomic
}

/**
 * Returns a check for each operation that no answer has confirmed, without sending anything. What a request names is taken from the
 * ledger, or from the answer of a check before it. Actions are never among them. `config` has the caps of `withLiveCaps`.
 */
export async function planLiveChecks(context: Planning, named: Named): Promise<LiveCheck[]> {
  const plan = await openPlan(context, named)
  const described = (await describeOperations(context)).filter(
    ({ operation, state }) => state !== 'confirmed' && operationRow(operation).kind !== 'action',
  )
  const first = described.map((each): LiveCheck | Waiting => {
    const { operation, stops, prices } = each
    if (stops.length > 0)
      return { operation, skipped: `stopped: \`paydirt service retry ${operation}\` lets it be asked again` }
    if (operationRow(operation).kind === 'account')
      return { operation, skipped: `it is free: \`paydirt service call ${operation}\` asks it` }
    const told = prices.find(({ currency }) => currency === 'USD')?.amountAtomic
    return plan(operation, told)
  })
  const asked = new Set(first.flatMap((check) => ('call' in check ? [check.operation] : [])))
  const checks = first.map((check): LiveCheck => {
    if (!('needs' in check)) return check
    const { operation, needs, text, ...cost } = check
    const after = sourcesOf[needs].find((source) => asked.has(source))
    if (after) return { operation, after, text, ...cost }
    return { operation, skipped: `needs ${text}: none in the ledger; ${advice[needs]}` }
  })
  return [...checks.filter((check) => !('after' in check)), ...checks.filter((check) => 'after' in check)]
}

type Waiting = { operation: Operation; needs: Sourced; text: string } & Cost

const advice: Readonly<Record<Sourced, string>> = {
  company: '`paydirt service call company.search` finds one',
  companyIds: '`paydirt service call company.similar` finds them',
  person: 'name one with --person URL',
  monitorId: '`paydirt service call monitor.list` finds one',
}

/** Reads the ledger, and returns what plans the check of one operation. `told` is its last price in USD. */
async function openPlan(context: Planning, { company, person }: Named) {
  // Requests bear accepted names, and what a call names must be known by them.
  const config = await withAcceptedNames(context.config, context)
  const known = await knownOfAccount(context, { asks: false })
  const references = await readReferences(context, { company, person })
  return (operation: Operation, told?: Atomic): LiveCheck | Waiting => {
    const contract = config.catalogue.of(operation)
    try {
      assertAccess(contract, config.apiKey !== undefined)
      const body = liveBody(contract, references)
      if ('skipped' in body) return { operation, ...body }
      const cost = costOf(config, contract, told)
      if (cost.priceAtomic !== undefined && cost.priceAtomic > cost.mostAtomic)
        return {
          operation,
          skipped: `its price of ${formatUsd(cost.priceAtomic)} USD is above the cap of one request, ${formatUsd(cost.mostAtomic)}: ${allowance(config, operation, cost.priceAtomic)}`,
        }
      if ('needs' in body) return { operation, ...body, ...cost }
      return { operation, call: planCall(config, { operation, body: body.body }, known), ...cost }
    } catch (error) {
      return { operation, skipped: error instanceof Error ? error.message : String(error) }
    }
  }
}

/** Returns the setting that allows a price. */
function allowance({ policy }: Config, operation: Operation, priceAtomic: Atomic): string {
  const [slot] = slotsOf(operation)
  return slot !== undefined && policy.capNames?.[slot] === '--max-usd'
    ? 'allow it with --max-usd'
    : `payment: { maxPricesUsd: { '${slot ?? operation}': '${formatUsd(priceAtomic)}' } } in paydirt.config.ts allows it`
}

function costOf(config: Config, { operation, price }: Contract, told: Atomic | undefined): Cost {
  if (price.value === 'free') return { mostAtomic: 0n, priceAtomic: 0n }
  const [slot] = slotsOf(operation)
  return { mostAtomic: capOf(config, operation), priceAtomic: (slot && config.prices[slot]) ?? told }
}

/** The end of one check; `unaffordable`: it could have cost more than was left. */
export interface LiveEnd {
  operation: Operation
  end:
    | CallEnd
    | { state: 'unaffordable' }
    /** The answer that it waited for has nothing that its request could name. */
    | { state: 'left out'; reason: string }
    | { state: 'failed'; reason: string; charges: [] }
}

/**
 * Buys one answer for each check, one after the other, and yields each end. A request is sent only where the most that it can cost is
 * left of the total. Crash windows are those of calls: each is a lookup of the ledger, and is continued under its key.
 */
export async function* runLiveChecks(
  context: Context,
  checks: readonly LiveCheck[],
  { totalAtomic, signal, ...named }: Named & { totalAtomic: Atomic; signal: AbortSignal },
): AsyncGenerator<LiveEnd> {
  let left = totalAtomic
  for (const check of checks) {
    if ('skipped' in check || signal.aborted) continue
    const { operation, mostAtomic } = check
    if (mostAtomic > left) {
      yield { operation, end: { state: 'unaffordable' } }
      continue
    }
    const planned = 'call' in check ? check : (await openPlan(context, named))(operation)
    if (!('call' in planned)) {
      const reason = 'skipped' in planned ? planned.skipped : `needs ${planned.text}, and no answer has one`
      yield { operation, end: { state: 'left out', reason } }
      continue
    }
    const { call } = planned
    // A session each: what stops one operation says nothing about the next.
    const calls = await openCalls(context, { first: call, signal })
    try {
      const end = await calls.buy(call)
      left -= end.state === 'answered' && end.isKnown ? 0n : chargedFor(end)
      yield { operation, end }
    } catch (error) {
      left -= mostAtomic
      const reason = error instanceof Error ? error.message : String(error)
      yield { operation, end: { state: 'failed', reason, charges: [] } }
    } finally {
      await calls.close()
    }
  }
}

/** A charge that may still be taken counts in full. Credits count as the USD of the price list, for this limit alone. */
function chargedFor({ charges }: CallEnd): Atomic {
  return charges
    .filter(({ state }) => !['declined', 'expired'].includes(state))
    .reduce(
      (sum, { amountAtomic, currency }) =>
        sum + (currency === 'credit' ? usdFromCredits(amountAtomic) : amountAtomic),
      0n,
    )
}

export function assertSomethingToAsk(checks: readonly LiveCheck[]): void {
  if (checks.some((check) => !('skipped' in check))) return
  throw new InputError(
    'nothing_to_ask',
    checks.length === 0 ? 'every operation is confirmed' : 'no unconfirmed operation can be asked as it is',
  )
}
