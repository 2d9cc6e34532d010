import { randomUUID } from 'node:crypto'
import { createAuditLog } from '../../store/access/audit.ts'
import {
  bookPayments,
  correctTimes,
  openPayments,
  unknownPayments,
  type ChainPayment,
  type UnknownPayment,
} from '../../store/restored/book-payments.ts'
import { explainRestore, pendingRestore, type Restore } from '../../store/restored/restore-state.ts'
import { formatUsd } from '../../domain/money.ts'
import { paidTotals, payersOf } from '../../store/ledger/paid-charges.ts'
import { readTransfers, transferScope } from './read-transfers.ts'
import type { RestoringParts } from './restoring-parts.ts'

export type RestoreEnd =
  /** An authorization that was signed before the restore may still be used until then. */
  | { kind: 'waiting'; until: Date }
  /** A wallet whose key is not set has paid after the backup: without the key nobody can tell for which lookups. */
  | { kind: 'other_wallet'; wallet: string; payments: number; amount: string }
  | { kind: 'booked'; payments: number; amount: string }

/** Calls to the chain's node at once. */
const atOnce = 8
/** A margin for clocks that differ: the machine's of the backup, the chain's. */
const marginMs = 3_600_000

/**
 * Ends restore mode: reads the chain from the time of the backup on, books the payments that the ledger does not know, and
 * lets spending go on. Each is claimed by its lookup when that is wanted again (store/restored/draw-charges.ts). Returns
 * undefined for a ledger that is not in restore mode.
 *
 * Every wallet that has paid in this ledger is read. A payment of one whose key is not set can be claimed by no lookup, which
 * would be bought a second time: restore mode stays until the key is set or `lostWallets` names the wallet.
 *
 * Crash windows: before the booking commits, nothing has changed but transfers that were read, and the next call goes on from
 * them. Booking and the end of restore mode are one transaction. Two processes at once: the second books what is left, nothing.
 */
export async function finishRestore(
  context: Pick<RestoringParts, 'database' | 'chain' | 'config' | 'now' | 'log'>,
  wallet: string | undefined,
  { lostWallets = [] }: { lostWallets?: readonly string[] } = {},
): Promise<RestoreEnd | undefined> {
  const { config, now, log } = context
  const { db } = context.database
  const restore = await pendingRestore(db)
  if (!restore) return undefined
  const own = wallet?.toLowerCase()
  const others = (await payersOf(db)).filter((payer) => payer !== own)
  const payers = [...(own === undefined ? [] : [own]), ...others]
  const until = new Date(restore.restoredAt.getTime() + config.authorizationSeconds * 1000)
  if (payers.length > 0 && now() < until) return { kind: 'waiting', until }
  // Without a wallet nothing was paid on a chain, and no payment of a key or card can be read.
  const payments: ChainPayment[] = []
  const lost = new Set(lostWallets.map((address) => address.toLowerCase()))
  for (const payer of payers) {
    const found = await readPayments(context, payer, restore)
    if (payer !== own && found.length > 0 && !lost.has(payer))
      return waitForKey(context, payer, found, restore)
    payments.push(...found)
  }
  const { network, asset } = config.policy
  const runId = `restored-${restore.restoredAt
    .toISOString()
    .replaceAll(/[^0-9]/g, '')
    .slice(0, 14)}`
  await bookPayments(db, payments, { network, asset, runId, at: now() })
  const amount = sumOf(payments)
  log.warn(
    { payments: payments.length, amount },
    'restored: payments after the backup are booked from the chain',
  )
  await createAuditLog(db, { now }).record({
    actor: 'system',
    role: 'system',
    action: 'ledger.restored',
    details: {
      backupAt: restore.backupAt.toISOString(),
      payments: payments.length,
      amount,
      ...(lost.size > 0 ? { lostWallets: [...lost].join(' ') } : {}),
    },
  })
  return { kind: 'booked', payments: payments.length, amount }
}

function sumOf(payments: readonly ChainPayment[]): string {
  return formatUsd(payments.reduce((sum, { amountAtomic }) => sum + amountAtomic, 0n))
}

/** Says wherever the stop is shown which key is missing. */
async function waitForKey(
  { database, log }: Pick<RestoringParts, 'database' | 'log'>,
  wallet: string,
  payments: readonly ChainPayment[],
  { backupAt }: Restore,
): Promise<RestoreEnd> {
  const amount = sumOf(payments)
  const said = `the wallet ${wallet} has paid ${amount} USD after the backup of ${backupAt.toISOString()}, and PAYDIRT_WALLET_KEY is not its key: set its key, so that these lookups are not bought again; where it is lost, \`paydirt reconcile --lost-wallet ${wallet}\` books the payments as lost`
  await explainRestore(database.db, said)
  log.warn({ wallet, payments: payments.length, amount }, said)
  return { kind: 'other_wallet', wallet, payments: payments.length, amount }
}

async function readPayments(
  context: Pick<RestoringParts, 'database' | 'chain' | 'config' | 'now'>,
  wallet: string,
  { backupAt }: Restore,
): Promise<ChainPayment[]> {
  const { chain, config } = context
  const { db } = context.database
  const { firstAt, recipients } = await paidTotals(db, wallet)
  const since = new Date(backupAt.getTime() - marginMs)
  await readTransfers(context, wallet, { firstAt: firstAt && firstAt < since ? firstAt : since })
  const scope = transferScope(context, wallet)
  const unknown = await unknownPayments(db, {
    scope,
    recipients: [...recipients, ...config.policy.recipients],
  })
  await correctOpenCharges(context, scope)
  const timeOf = new Map<bigint, Promise<Date>>()
  const read = (number: bigint) => {
    const known = timeOf.get(number) ?? chain.block(number).then((block) => block?.at ?? context.now())
    timeOf.set(number, known)
    return known
  }
  return inTurns(unknown, async (payment: UnknownPayment) => {
    const [times, paidAt] = await Promise.all([
      chain.timesOf(payment.transaction, payment.nonce),
      read(payment.block),
    ])
    return {
      ...payment,
      payer: wallet,
      id: randomUUID(),
      paidAt,
      validAfter: times?.validAfter ?? 0,
      validBefore: times?.validBefore ?? 0,
    }
  })
}

/**
 * A charge that was open in the backup may have been withdrawn after it and drawn again, with the same nonce and another time.
 * Only the bytes that were used bring its answer.
 */
async function correctOpenCharges(
  { database, chain, now }: Pick<RestoringParts, 'database' | 'chain' | 'now'>,
  scope: string,
): Promise<void> {
  const used = await inTurns(await openPayments(database.db, scope), async ({ transaction, nonce }) => {
    const times = await chain.timesOf(transaction, nonce)
    return times ? [{ nonce, validBefore: times.validBefore }] : []
  })
  await correctTimes(database.db, used.flat(), now())
}

async function inTurns<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let at = 0; at < items.length; at += atOnce)
    results.push(...(await Promise.all(items.slice(at, at + atOnce).map(work))))
  return results
}
