import { formatUsd, type Atomic } from '../../domain/money.ts'
import { createChainTransferLedger } from '../../store/chain/chain-transfers.ts'
import {
  compareTransfers,
  type Comparison,
  type UnbookedTransfer,
  type UnseenCharge,
} from '../../store/chain/compare-transfers.ts'
import { paidTotals, type PaidTotals } from '../../store/ledger/paid-charges.ts'
import type { Block } from '../../pay/chain/transfer-log.ts'
import type { Context } from '../context/context.ts'
import { restoredReport, type RestoredReport } from '../../store/restored/restored-payments.ts'
import { readTransfers, transferScope } from '../restored/read-transfers.ts'

/** One difference between ledger and chain. */
export interface Difference {
  kind: 'not_in_ledger' | 'not_on_chain' | 'amount'
  charge?: string | undefined
  lookup?: string | undefined
  transaction?: string | undefined
  /** Position of the transfer among the logs of its block: one transaction may hold several. */
  logIndex?: number | undefined
  ledger: string
  chain: string
}

interface Counted {
  charges: number
  amount: string
}

export interface Reconciliation {
  currency: 'USD'
  wallet: string
  chain: { transfers: number; amount: string }
  ledger: { charges: number; settled: string; lost: string; inDoubt: string }
  /** Chain less ledger, over all differences. */
  difference: string
  differences: Difference[]
  /** Transfers to recipients that Paydirt never paid. They are shown separately and are no difference. */
  elsewhere: { transfers: number; amount: string }
  /** In doubt, and the chain has moved the money: the answer or its loss is not booked yet. No difference. */
  moved: Counted
  /** Booked as paid, not on the chain yet, and still able to get there. No difference. */
  pending: Counted
  /** Booked as paid, used by the token's own record, but the node no longer has the logs. Neither a match nor a difference. */
  unknown: Counted
  /** The last block whose logs were read, and the last one whose logs the node no longer has. */
  readThrough?: string | undefined
  logsGoneThrough?: string | undefined
  /** Undefined: this ledger was never restored from a backup. */
  restored?: RestoredReport | undefined
}

type ReconcileContext = Pick<Context, 'database' | 'chain' | 'config'>

/**
 * Compares the transfers from the wallet, as the chain logged them, with the charges that the ledger says were paid, one by
 * one. Reads only the logs since the last comparison; `isFull` reads all since the ledger's first charge.
 *
 * No payment that is under way looks like a difference: a transfer of a charge in doubt is known by its nonce, and a charge
 * without a transfer counts as missing only when the chain's own time has passed the end of its authorization.
 */
export async function reconcile(
  context: ReconcileContext,
  wallet: string,
  options: { isFull?: boolean } = {},
): Promise<Reconciliation> {
  const { db } = context.database
  const { firstAt } = await paidTotals(db, wallet)
  const read = firstAt && (await readTransfers(context, wallet, { firstAt, ...options }))
  // The ledger is read after the chain: a transfer that was read belongs to a charge that was journaled before it.
  const totals = await paidTotals(db, wallet)
  const scope = transferScope(context, wallet)
  const compared = await compareTransfers(db, { scope, wallet, recipients: totals.recipients })
  const { differences, pending, unlogged } = await judge(context, {
    wallet,
    scope,
    compared,
    head: read?.head,
  })
  return {
    ...result(wallet, totals, compared),
    difference: formatUsd(differences.reduce((sum, { byAtomic }) => sum + byAtomic, 0n)),
    differences: differences.map(({ shown }) => shown),
    pending: counted(pending),
    unknown: add(compared.unlogged, unlogged),
    readThrough: read && String(read.head.number),
    logsGoneThrough: read?.goneThrough?.toString(),
    restored: await restoredReport(db),
  }
}

interface Judged {
  differences: { byAtomic: Atomic; shown: Difference }[]
  pending: UnseenCharge[]
  unlogged: UnseenCharge[]
}

/** Decides what a charge without a transfer, and a transfer without a charge, mean. */
async function judge(
  context: ReconcileContext,
  {
    wallet,
    scope,
    compared,
    head,
  }: { wallet: string; scope: string; compared: Comparison; head: Block | undefined },
): Promise<Judged> {
  const { unbooked, unseen } = pairByTransaction(compared)
  const pending = unseen.filter(({ validBefore }) => !head || head.at.getTime() / 1000 <= validBefore)
  const overdue = unseen.filter((charge) => !pending.includes(charge))
  const used = head
    ? await context.chain.usedNonces(
        wallet,
        overdue.map(({ nonce }) => nonce),
        head,
      )
    : new Set<string>()
  const unlogged = overdue.filter(({ nonce }) => used.has(nonce))
  // Kept, so that the token is not asked about them again.
  await createChainTransferLedger(context.database.db, scope).addUnlogged(unlogged)
  const missing = overdue.filter(({ nonce }) => !used.has(nonce))
  return { differences: [...missing.map(notOnChain), ...unbooked.map(notAsBooked)], pending, unlogged }
}

/**
 * A charge whose nonce is in no log and a transfer whose nonce is in no charge belong together when the ledger names the
 * transfer's transaction and amount. Each is used once.
 */
function pairByTransaction({ unbooked, unseen }: Comparison): Pick<Comparison, 'unbooked' | 'unseen'> {
  const free = [...unbooked]
  const left = unseen.filter(({ transaction, amountAtomic }) => {
    const at = free.findIndex(
      (each) =>
        each.chargeId === null &&
        each.transaction === transaction?.toLowerCase() &&
        each.amountAtomic === amountAtomic,
    )
    if (at >= 0) free.splice(at, 1)
    return at < 0
  })
  return { unbooked: free, unseen: left }
}

function result(wallet: string, totals: PaidTotals, { ours, elsewhere, moved }: Comparison) {
  return {
    currency: 'USD' as const,
    wallet,
    chain: { transfers: ours.count, amount: formatUsd(ours.atomic) },
    ledger: {
      charges: totals.charges,
      settled: formatUsd(totals.settledAtomic),
      lost: formatUsd(totals.lostAtomic),
      inDoubt: formatUsd(totals.inDoubtAtomic),
    },
    elsewhere: { transfers: elsewhere.count, amount: formatUsd(elsewhere.atomic) },
    moved: { charges: moved.count, amount: formatUsd(moved.atomic) },
  }
}

function notOnChain({ id, lookupKey, transaction, amountAtomic }: UnseenCharge) {
  const shown: Difference = {
    kind: 'not_on_chain',
    charge: id,
    lookup: lookupKey,
    transaction: transaction ?? undefined,
    ledger: formatUsd(amountAtomic),
    chain: formatUsd(0n),
  }
  return { byAtomic: -amountAtomic, shown }
}

function notAsBooked(transfer: UnbookedTransfer) {
  const { transaction, logIndex, amountAtomic, chargeId, lookupKey, state } = transfer
  // A charge that was closed as unpaid books nothing.
  const isClosedUnpaid = state === 'declined' || state === 'expired'
  const bookedAtomic = isClosedUnpaid ? 0n : (transfer.bookedAtomic ?? 0n)
  const shown: Difference = {
    kind: chargeId === null || isClosedUnpaid ? 'not_in_ledger' : 'amount',
    charge: chargeId ?? undefined,
    lookup: lookupKey ?? undefined,
    transaction,
    logIndex,
    ledger: formatUsd(bookedAtomic),
    chain: formatUsd(amountAtomic),
  }
  return { byAtomic: amountAtomic - bookedAtomic, shown }
}

function counted(charges: readonly UnseenCharge[]): Counted {
  return {
    charges: charges.length,
    amount: formatUsd(charges.reduce((sum, { amountAtomic }) => sum + amountAtomic, 0n)),
  }
}

function add(known: Comparison['unlogged'], now: readonly UnseenCharge[]): Counted {
  const atomic = now.reduce((sum, { amountAtomic }) => sum + amountAtomic, known.atomic)
  return { charges: known.count + now.length, amount: formatUsd(atomic) }
}
