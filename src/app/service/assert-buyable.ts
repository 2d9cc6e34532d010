import { usdFromCredits } from '../../domain/credits.ts'
import { ConfigError } from '../../domain/errors.ts'
import { formatUsd, type Atomic } from '../../domain/money.ts'
import { prepareRequest } from '../../service/client.ts'
import { seenPrices } from '../../store/contract/seen-prices.ts'
import type { Context } from '../context/context.ts'
import type { CallEnd } from './call-session.ts'
import { assertPageExists } from './last-known-page.ts'
import { isUnderOldNames } from './old-names.ts'
import { assertAffordable, type AffordableCall, type PlannedCall } from './plan-call.ts'

/**
 * Throws InputError for a page that is not there, and ConfigError for a call that may cost more than its cap, or whose cap nobody has set. By API key no challenge tells the
 * price beforehand: there it throws for one that cost more than its cap when it was last asked, or whose page before did (`last`).
 * An answer that the ledger has costs nothing, whatever is known of its price.
 */
export async function assertBuyable(
  { config, database: { db }, lookups }: Pick<Context, 'config' | 'database' | 'lookups'>,
  call: PlannedCall,
  last?: Pick<CallEnd, 'charges'>,
): Promise<void> {
  const { key, operation, kind, request, isFree } = call
  // An action that was done once is sent again by another permission, and paid for again.
  const known = kind === 'action' ? undefined : (await lookups.freshFacts([key])).get(key)
  if (known && known.outcome !== 'failed' && !(await isUnderOldNames(db, call, known))) return
  await assertPageExists({ lookups }, call)
  assertAffordable(call)
  if (config.apiKey === undefined || isFree || operation === 'company.logo') return
  const { endpoint } = prepareRequest(config.serviceUrl ?? '', operation, { ...request }, config.catalogue)
  const seen = (await seenPrices(db)).filter(({ priceClass }) => priceClass === endpoint)
  const paid = (last?.charges ?? []).filter(({ state }) => state === 'settled')
  for (const { currency, amountAtomic } of [...seen, ...paid])
    if (currency === 'credit') assertWithin(call, amountAtomic)
}

function assertWithin({ operation, capAtomic }: AffordableCall, credits: Atomic): void {
  if (usdFromCredits(credits) <= capAtomic) return
  throw new ConfigError(
    'above_cap',
    `${operation} has cost ${formatUsd(credits)} credits, which count as ${formatUsd(usdFromCredits(credits))} USD, above the cap of ${formatUsd(capAtomic)}: nothing more is bought; allow it with --max-usd, or payment.maxPricesUsd in paydirt.config.ts`,
  )
}
