import { formatUsd } from '../../domain/money.ts'
import { capsOf, stepPrices } from '../../domain/planning/prices.ts'
import { createAuditLog } from '../../store/access/audit.ts'
import { refusals, spendBy, type SpendGroup } from '../../store/views/spend.ts'
import type { Context } from '../context/context.ts'
import { listMonths } from './list-months.ts'

export interface SpendingStop {
  since: Date
  /** The user of the desk who stopped it, or `cli`; null where the audit log names neither. */
  by: string | null
  /** The reason which that person gave; for the command line the command. */
  reason: string
  /** Reading the chain ends it: the ledger was restored. */
  isRestored?: true
}

type StopContext = Pick<Context, 'database' | 'now' | 'spendSwitch'>

/** Returns since when spending is stopped, by whom and why; undefined while it is not stopped. */
export async function spendingStop({
  database,
  now,
  spendSwitch,
}: StopContext): Promise<SpendingStop | undefined> {
  const stopped = await spendSwitch.isStopped()
  if (!stopped) return undefined
  if (stopped.isRestored) return { ...stopped, by: null }
  const last = await createAuditLog(database.db, { now }).lastOf('spending.stop')
  return { ...stopped, by: last?.actor ?? null }
}

/** Returns the spend by group, and the refusals of the spending policy. */
export async function readSpend(context: StopContext & Pick<Context, 'config'>, by: SpendGroup) {
  const { config, database } = context
  const rows = (await spendBy(database.db, by)).map((row) => ({
    [by]: row.name,
    currency: row.currency,
    charges: row.charges,
    settled: formatUsd(row.settledAtomic),
    inDoubt: formatUsd(row.inDoubtAtomic),
    lost: formatUsd(row.lostAtomic),
  }))
  const prices = stepPrices(config.prices, capsOf(config.policy)).map((each) => ({
    step: each.step,
    price: each.priceAtomic === undefined ? null : formatUsd(each.priceAtomic),
    cap: formatUsd(each.capAtomic),
    bought: !each.isStopped,
  }))
  const lists = (await listMonths(context)).map(({ list, month, spentAtomic, capAtomic }) => ({
    list,
    month,
    spent: formatUsd(spentAtomic),
    cap: capAtomic === undefined ? null : formatUsd(capAtomic),
  }))
  return {
    by,
    rows,
    refused: await refusals(database.db),
    stopped: await spendingStop(context),
    prices,
    lists,
  }
}
