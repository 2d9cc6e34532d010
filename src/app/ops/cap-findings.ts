import { formatUsd, type Atomic } from '../../domain/money.ts'
import { payableSlots } from '../../domain/planning/prices.ts'
import type { Config } from '../config/config.ts'
import type { Finding } from './finding.ts'

/** Names caps that cannot be reached, because a smaller one comes first: one of them is a mistake. */
export function capFindings({ policy, caps }: Pick<Config, 'policy' | 'caps'>): Finding[] {
  const dearest = payableSlots
    .map((slot) => policy.maxPrices?.[slot] ?? 0n)
    .reduce((most, each) => (each > most ? each : most), policy.maxPriceAtomic)
  const pairs: [name: string, atomic: Atomic | undefined, above: string, cap: Atomic | undefined][] = [
    ['one lookup may cost', dearest, 'a run may spend', caps.runAtomic],
    ['one lookup may cost', dearest, 'a day may cost', caps.dayAtomic],
    ['a run may spend', caps.runAtomic, 'a day may cost', caps.dayAtomic],
    ['a day may cost', caps.dayAtomic, 'a month may cost', caps.monthAtomic],
  ]
  return pairs.flatMap(([name, atomic, above, cap]): Finding[] =>
    atomic === undefined || cap === undefined || atomic <= cap
      ? []
      : [
          {
            name: 'caps',
            status: 'warning',
            message: `${name} ${formatUsd(atomic)} USD, which is more than ${above}: ${formatUsd(cap)}`,
            todo: 'mend PAYDIRT_MAX_PRICE_USD, payment.maxPricesUsd, PAYDIRT_BUDGET_RUN_USD, PAYDIRT_BUDGET_DAY_USD or budgets.monthUsd',
          },
        ],
  )
}
