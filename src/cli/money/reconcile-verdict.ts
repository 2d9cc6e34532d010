import type { Reconciliation } from '../../app/money/reconcile.ts'
import type { ServiceCount } from '../../app/money/service-count.ts'

/**
 * Returns what a comparison means, the important first: whether ledger and chain agree, which decides what was paid, and
 * whether the service's own counts do; and what to do where they do not.
 */
export function verdictLines(result: Reconciliation | undefined, counts: readonly ServiceCount[]): string[] {
  return [
    ...(result ? chainVerdict(result) : []),
    ...counts.filter(({ counted }) => counted > 0).flatMap(serviceVerdict),
  ]
}

/** True when what was paid is as the ledger says. The service's count in USD says nothing about that: see below. */
export function isAgreed(result: Reconciliation | undefined, counts: readonly ServiceCount[]): boolean {
  return (result?.differences.length ?? 0) === 0 && counts.every((count) => isExpected(count))
}

function chainVerdict({ chain, difference, differences, elsewhere, ledger }: Reconciliation): string[] {
  if (differences.length === 0)
    return [
      `OK: ledger and chain agree. The chain moved ${chain.amount} USD in ${counted(chain.transfers, 'transfer')}, and each belongs to a charge of the ledger${isNotZero(ledger.inDoubt) ? ` or is still in doubt (${ledger.inDoubt} USD)` : ''}.`,
    ]
  const kinds = new Set(differences.map(({ kind }) => kind))
  return [
    `DIFFERENCE: ledger and chain differ in ${counted(differences.length, 'payment')}, by ${difference} USD (chain less ledger). Each is listed below.`,
    ...(kinds.has('not_in_ledger')
      ? [
          '  not_in_ledger: money left the wallet to a known recipient, and no charge says so. Another program may use this wallet, or the ledger was restored from a backup: give Paydirt a wallet of its own, and restore the ledger that made the payment.',
        ]
      : []),
    ...(kinds.has('not_on_chain')
      ? [
          '  not_on_chain: the ledger booked it as paid, and the chain has not moved it and never will. Nothing is owed; what was spent is less than `paydirt spend` says.',
        ]
      : []),
    ...(kinds.has('amount')
      ? [
          '  amount: the chain moved another amount than the ledger booked. The chain is right; ask the service for the transaction.',
        ]
      : []),
    ...(elsewhere.transfers > 0
      ? ['  Transfers to others than the service are listed apart and are no difference.']
      : []),
  ]
}

function serviceVerdict(count: ServiceCount): string[] {
  const { currency, difference, service, ledger, unconfirmed } = count
  const unit = currency === 'USD' ? 'USD' : 'credits'
  // In USD the chain confirms them.
  const rest =
    currency === 'credit' && unconfirmed.charges > 0
      ? ` No answer confirms ${unconfirmed.amount} more credits in ${counted(unconfirmed.charges, 'charge')}: each is booked with the most that it may cost.`
      : ''
  if (!isNotZero(difference))
    return [`OK: the service's own count agrees with the ledger (${ledger} ${unit}).${rest}`]
  if (currency === 'USD')
    return [
      difference.startsWith('-')
        ? `OK: the service counts ${service} USD where ${ledger} were paid. It took no more than the chain moved: nothing to do.`
        : `OK: the service counts ${service} USD where ${ledger} were paid: a request pays the ceiling of its challenge, also for answers that cost less. The chain decides what was paid: nothing to do.`,
    ]
  return [
    `DIFFERENCE: the service counts ${service} credits where the ledger has ${ledger}, for the same answers. Ask the service with the list of \`paydirt spend --by run\`.`,
  ]
}

function isExpected({ currency, difference }: ServiceCount): boolean {
  return currency === 'USD' || !isNotZero(difference)
}

/** True for amounts above and below zero. */
function isNotZero(amount: string): boolean {
  return /[1-9]/.test(amount)
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
