import { formatUsd, type Atomic } from '../../domain/money.ts'
import type { Transfer } from '../../pay/chain.ts'
import type { Context } from '../context/context.ts'
import { paidCharges, type PaidCharge } from '../../store/ledger/paid-charges.ts'

/** One difference between ledger and chain. */
export interface Difference {
  kind: 'not_in_ledger' | 'not_on_chain' | 'amount'
  charge?: string
  lookup?: string
  transaction?: string | undefined
  ledger: string
  chain: string
}

export interface Reconciliation {
  currency: 'USD'
  wallet: string
  chain: { transfers: number; amount: string }
  ledger: { charges: number; settled: string; lost: string; inDoubt: string }
  /** Chain less ledger. */
  difference: string
  differences: Difference[]
  /** Transfers to recipients that Paydirt never paid. They are shown separately and are no difference. */
  elsewhere: { transfers: number; amount: string }
}

/**
 * Compares the transfers from the wallet, as the chain logged them, with the charges that the ledger says were paid, one by
 * one. The chain is read from just before the ledger's first charge.
 */
export async function reconcile(
  context: Pick<Context, 'database' | 'chain'>,
  wallet: string,
): Promise<Reconciliation> {
  const { charges, inDoubtAtomic, recipients, firstAt } = await paidCharges(context.database.db, wallet)
  const fromBlock = firstAt === undefined ? undefined : await context.chain.blockBefore(firstAt)
  const all = fromBlock === undefined ? [] : await context.chain.transfersFrom(wallet, fromBlock)
  const paidTo = new Set(recipients.map((address) => address.toLowerCase()))
  const transfers = all.filter(({ to, amountAtomic }) => paidTo.has(to.toLowerCase()) && amountAtomic > 0n)
  const others = all.filter(({ to }) => !paidTo.has(to.toLowerCase()))
  const onChain = total(transfers.map(({ amountAtomic }) => amountAtomic))
  const settled = total(
    charges.filter(({ state }) => state === 'settled').map(({ amountAtomic }) => amountAtomic),
  )
  const lost = total(charges.filter(({ state }) => state === 'lost').map(({ amountAtomic }) => amountAtomic))
  return {
    currency: 'USD',
    wallet,
    chain: { transfers: transfers.length, amount: formatUsd(onChain) },
    ledger: {
      charges: charges.length,
      settled: formatUsd(settled),
      lost: formatUsd(lost),
      inDoubt: formatUsd(inDoubtAtomic),
    },
    difference: formatUsd(onChain - settled - lost),
    differences: compare(transfers, charges),
    elsewhere: {
      transfers: others.length,
      amount: formatUsd(total(others.map(({ amountAtomic }) => amountAtomic))),
    },
  }
}

/** Matches by transaction when the ledger knows it. A charge without a transaction matches any remaining transfer of its amount. */
function compare(transfers: Transfer[], charges: PaidCharge[]): Difference[] {
  const left = new Map(transfers.map((transfer) => [transfer.transaction.toLowerCase(), transfer]))
  const differences: Difference[] = []
  const nameless: PaidCharge[] = []
  for (const charge of charges) {
    if (charge.transaction === null) {
      nameless.push(charge)
      continue
    }
    const transfer = left.get(charge.transaction.toLowerCase())
    if (!transfer) differences.push(missing(charge))
    else if (transfer.amountAtomic !== charge.amountAtomic) {
      differences.push({ ...missing(charge), kind: 'amount', chain: formatUsd(transfer.amountAtomic) })
    }
    left.delete(charge.transaction.toLowerCase())
  }
  for (const charge of nameless) {
    const match = [...left.values()].find(({ amountAtomic }) => amountAtomic === charge.amountAtomic)
    if (match) left.delete(match.transaction.toLowerCase())
    else differences.push(missing(charge))
  }
  for (const { transaction, amountAtomic } of left.values()) {
    differences.push({
      kind: 'not_in_ledger',
      transaction,
      ledger: formatUsd(0n),
      chain: formatUsd(amountAtomic),
    })
  }
  return differences
}

function missing({ id, lookupKey, transaction, amountAtomic }: PaidCharge): Difference {
  return {
    kind: 'not_on_chain',
    charge: id,
    lookup: lookupKey,
    transaction: transaction ?? undefined,
    ledger: formatUsd(amountAtomic),
    chain: formatUsd(0n),
  }
}

function total(amounts: Atomic[]): Atomic {
  return amounts.reduce((sum, amount) => sum + amount, 0n)
}
