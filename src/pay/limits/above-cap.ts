import { formatUsd, type Atomic } from '../../domain/money.ts'
import type { FactSlot } from '../../domain/planning/step.ts'

/**
 * Returns why a price is refused: the step, the price of one lookup, its cap, and the line that allows it. It is the same for
 * one lookup and for a batch of them, so that records parked by one price are one cause. `option` is that of the command which has set
 * the cap.
 */
export function aboveCapText(
  steps: readonly FactSlot[],
  { priceAtomic, capAtomic }: { priceAtomic: Atomic; capAtomic: Atomic },
  option?: string,
): string {
  const [step, ...others] = new Set(steps)
  const count = BigInt(Math.max(steps.length, 1))
  if (step === undefined)
    return `price ${formatUsd(priceAtomic)} is above the cap of ${formatUsd(capAtomic)} (PAYDIRT_MAX_PRICE_USD)`
  const toAllow = 'To allow it, set in paydirt.config.ts: payment: { maxPricesUsd: {'
  if (others.length > 0 || priceAtomic % count !== 0n || capAtomic % count !== 0n) {
    const named = [step, ...others].join(', ')
    return `${named}: the price of ${formatUsd(priceAtomic)} USD together is above their caps of ${formatUsd(capAtomic)}. ${toAllow} … } } with a price for each`
  }
  const price = formatUsd(priceAtomic / count)
  if (option !== undefined)
    return `one lookup of ${step} costs ${price} USD, above the cap of ${formatUsd(capAtomic / count)} by ${option}`
  return `one lookup of ${step} costs ${price} USD, above its cap of ${formatUsd(capAtomic / count)}. ${toAllow} '${step}': '${price.replace(/0{1,4}$/, '')}' } }. PAYDIRT_MAX_PRICE_USD is the cap of every step without one of its own`
}
