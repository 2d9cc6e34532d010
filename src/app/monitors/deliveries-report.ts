import { formatUsd } from '../../domain/money.ts'
import { monitorsState } from '../../store/monitors/monitors-state.ts'
import type { Context } from '../context/context.ts'

/** Returns what became of the deliveries of monitors, as `paydirt monitors deliveries` prints it. Reads the ledger alone. */
export async function reportDeliveries({ database: { db } }: Pick<Context, 'database'>) {
  const { monitors, others, headers } = await monitorsState(db)
  return {
    monitors: monitors.map(({ cost, ...monitor }) => ({
      ...monitor,
      cost: { usd: formatUsd(cost.usdAtomic), credits: formatUsd(cost.credits) },
    })),
    others,
    unknownHeaders: headers.map(({ name }) => name),
  }
}

export type DeliveriesReport = Awaited<ReturnType<typeof reportDeliveries>>
