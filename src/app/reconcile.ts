import type { Atomic } from '../domain/money.ts'
import { spendBy } from '../store/spend.ts'
import type { Context } from './context.ts'

export interface Totals {
  chain: { amountAtomic: Atomic; transfers: number }
  ledger: { amountAtomic: Atomic; charges: number }
}

/** What left the wallet according to the chain, and what was paid (settled or lost) according to the ledger. */
export async function totals(context: Pick<Context, 'database' | 'chain'>, wallet: string): Promise<Totals> {
  const transfers = await context.chain.transfersFrom(wallet)
  const rows = await spendBy(context.database.db, 'connector')
  return {
    chain: {
      amountAtomic: sum(transfers.map(({ amountAtomic }) => amountAtomic)),
      transfers: transfers.length,
    },
    ledger: {
      amountAtomic: sum(rows.map((row) => row.settledAtomic + row.lostAtomic)),
      charges: rows.reduce((count, row) => count + row.charges, 0),
    },
  }
}

function sum(amounts: Atomic[]): Atomic {
  return amounts.reduce((total, amount) => total + amount, 0n)
}
