import { usdFromCredits } from '../../domain/credits.ts'
import { ConfigError } from '../../domain/errors.ts'
import { formatUsd, type Atomic } from '../../domain/money.ts'
import { prepareRequest } from '../../service/client.ts'
import { seenPrices } from '../../store/contract/seen-prices.ts'
import type { Context } from '../context/context.ts'
import type { CallEnd } from './call-session.ts'
import { expireUnderOldNames } from './old-names.ts'
import type { AffordableCall } from './plan-call.ts'

/**
 * Throws ConfigError for a call by API key that cost more than its cap when it was last asked, or whose page before did (`last`).
 * No challenge tells the price beforehand there: one answer may cost more than the cap, and no further one is bought. An answer
 * that the ledger has costs nothing.
 */
export async function assertLastPrice(
  { config, database: { db }, lookups, now }: Pick<Context, 'config' | 'database' | 'lookups' | 'now'>,
  call: AffordableCall,
  last?: Pick<CallEnd, 'charges'>,
): Promise<void> {
  const { key, operation, request, isFree } = call
  if (config.apiKey === undefined || isFree || operation === 'company.logo') return
  const known = (await lookups.freshFacts([key])).get(key)
  if (known && !(await expireUnderOldNames(db, call, known, now()))) return
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
