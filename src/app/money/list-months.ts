import { usdFromCredits } from '../../domain/credits.ts'
import type { Atomic } from '../../domain/money.ts'
import { listsOfMonth } from '../../store/lists/list-spending.ts'
import { monthCap } from '../config/watching/month-cap.ts'
import type { Context } from '../context/context.ts'

/** The spending for one list in this calendar month (UTC), payments in doubt included. A credit counts as a cent. */
export interface ListMonth {
  list: string
  month: string
  spentAtomic: Atomic
  /** Undefined: the list has no cap. */
  capAtomic: Atomic | undefined
}

/** Returns the month of one list. */
export async function listMonth(
  context: Pick<Context, 'config' | 'database' | 'now'>,
  name: string,
): Promise<ListMonth> {
  const months = await listMonths(context)
  const month = context.now().toISOString().slice(0, 7)
  return (
    months.find(({ list }) => list === name) ?? {
      list: name,
      month,
      spentAtomic: 0n,
      capAtomic: monthCap(context.config, name),
    }
  )
}

/** Returns the month of every list of the settings, and of those that are not in them any more and were charged for. */
export async function listMonths({
  config,
  database,
  now,
}: Pick<Context, 'config' | 'database' | 'now'>): Promise<ListMonth[]> {
  const month = now().toISOString().slice(0, 7)
  const spent = await listsOfMonth(database.db, month)
  const names = [...new Set([...Object.keys(config.lists), ...spent.keys()])]
  return names.map((list) => {
    const { usdAtomic = 0n, creditsAtomic = 0n } = spent.get(list) ?? {}
    const capAtomic = monthCap(config, list)
    return { list, month, spentAtomic: usdAtomic + usdFromCredits(creditsAtomic), capAtomic }
  })
}
