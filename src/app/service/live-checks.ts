import { InputError } from '../../domain/errors.ts'
import type { Atomic } from '../../domain/money.ts'
import { usdFromCredits } from '../../domain/credits.ts'
import { operationRow, slotsOf } from '../../domain/operations.ts'
import type { Operation } from '../../domain/words.ts'
import type { Contract } from '../../service/catalogue/catalogue.ts'
import { lastFoundDomain } from '../../store/contract/known-company.ts'
import type { Config } from '../config/config.ts'
import type { Context } from '../context/context.ts'
import { openCalls, withCallCap, type CallEnd } from './call-session.ts'
import { describeOperations } from './describe-operations.ts'
import { knownOfAccount } from './known-of-account.ts'
import { planCall, type PlannedCall } from './plan-call.ts'

/** An unconfirmed operation with the request that would confirm it, or the reason why none is sent. */
export type LiveCheck =
  | { operation: Operation; call: PlannedCall; mostAtomic: Atomic; priceAtomic: Atomic | undefined }
  | { operation: Operation; skipped: string }

/** Returns the settings under which no request of the checks costs more than its own limit, or than all of them may. */
export function withLiveCaps(config: Config, totalAtomic: Atomic): Config {
  return config.catalogue.all().reduce((settings, { operation }) => {
    const most = capOf(config, operation)
    return withCallCap(settings, operation, most < totalAtomic ? most : totalAtomic)
  }, config)
}

function capOf({ policy }: Config, operation: Operation): Atomic {
  const [slot] = slotsOf(operation)
  return (slot && policy.maxPrices?.[slot]) ?? policy.maxPriceAtomic
}

/**
 * Returns a check for each operation that no answer has confirmed, without sending anything. Actions are never among them, nor
 * what needs a person or an id. `config` has the caps of `withLiveCaps`.
 */
export async function planLiveChecks(
  context: Pick<Context, 'config' | 'database' | 'openEngine' | 'now'>,
  { company }: { company: string | undefined },
): Promise<LiveCheck[]> {
  const { config, database } = context
  const known = await knownOfAccount(context, { asks: false })
  const domain = company ?? (await lastFoundDomain(database.db))
  const described = await describeOperations(context)
  return described.flatMap(({ operation, state, stops, prices }): LiveCheck[] => {
    const contract = config.catalogue.of(operation)
    if (state === 'confirmed' || ['action', 'account'].includes(operationRow(operation).kind)) return []
    if (stops.length > 0)
      return [
        { operation, skipped: `stopped: \`paydirt service retry ${operation}\` lets it be asked again` },
      ]
    const body = bodyOf(contract, domain)
    if ('skipped' in body) return [{ operation, ...body }]
    try {
      const call = planCall(config, { operation, body: body.body }, known)
      const mostAtomic = call.isFree ? 0n : (call.capAtomic ?? 0n)
      const told = prices.find(({ currency }) => currency === 'USD')?.amountAtomic
      const priceAtomic = call.priceAtomic ?? told
      if (priceAtomic !== undefined && priceAtomic > mostAtomic)
        return [{ operation, skipped: 'its price is above the cap of one request' }]
      return [{ operation, call, mostAtomic, priceAtomic }]
    } catch (error) {
      return [{ operation, skipped: error instanceof Error ? error.message : String(error) }]
    }
  })
}

type Body = { body: Record<string, unknown> } | { skipped: string }

/** One row is enough to see the form of an answer. */
function bodyOf({ operation, request, oneOf = [] }: Contract, domain: string | undefined): Body {
  const isSearch = operationRow(operation).kind === 'search'
  const needed = Object.entries(request).filter(([, { isRequired }]) => isRequired)
  const paging = isSearch ? { per_page: 1 } : {}
  const noDomain = { skipped: 'needs a company: name one with --company DOMAIN' }
  if (operation === 'company.logo') return { skipped: 'its answer is an image' }
  if (operation === 'monitor.interpret') return { body: { query: 'companies that hire in Germany' } }
  if (needed.length > 0) return { skipped: `needs ${needed.map(([name]) => name).join(', ')}` }
  if (oneOf.includes('domain')) return domain === undefined ? noDomain : { body: { domain, ...paging } }
  if (oneOf.length > 0) return { skipped: `needs ${oneOf.join(' or ')}` }
  if ('domains' in request)
    return domain === undefined ? noDomain : { body: { domains: [domain], ...paging } }
  if (Object.keys(request).every((name) => name === 'page' || name === 'per_page')) return { body: {} }
  return { skipped: 'needs a reference that no ledger has at hand' }
}

/** The end of one check; `unaffordable`: it could have cost more than was left. */
export interface LiveEnd {
  operation: Operation
  end: CallEnd | { state: 'unaffordable' } | { state: 'failed'; reason: string; charges: [] }
}

/**
 * Buys one answer for each check, one after the other, and yields each end. A request is sent only where the most that it can cost is
 * left of the total. Crash windows are those of calls: each is a lookup of the ledger, and is continued under its key.
 */
export async function* runLiveChecks(
  context: Context,
  checks: readonly LiveCheck[],
  { totalAtomic, signal }: { totalAtomic: Atomic; signal: AbortSignal },
): AsyncGenerator<LiveEnd> {
  let left = totalAtomic
  for (const check of checks) {
    if ('skipped' in check || signal.aborted) continue
    const { operation, call, mostAtomic } = check
    if (mostAtomic > left) {
      yield { operation, end: { state: 'unaffordable' } }
      continue
    }
    // A session each: what stops one operation says nothing about the next.
    const calls = await openCalls(context, { first: call, signal })
    try {
      const end = await calls.buy(call)
      left -= end.state === 'answered' && end.isKnown ? 0n : costOf(end)
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
function costOf({ charges }: CallEnd): Atomic {
  return charges
    .filter(({ state }) => !['declined', 'expired'].includes(state))
    .reduce(
      (sum, { amountAtomic, currency }) =>
        sum + (currency === 'credit' ? usdFromCredits(amountAtomic) : amountAtomic),
      0n,
    )
}

export function assertSomethingToAsk(checks: readonly LiveCheck[]): void {
  if (checks.some((check) => 'call' in check)) return
  throw new InputError(
    'nothing_to_ask',
    checks.length === 0 ? 'every operation is confirmed' : 'no unconfirmed operation can be asked as it is',
  )
}
