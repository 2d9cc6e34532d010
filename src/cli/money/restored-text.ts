import type { RestoredPayment, RestoredReport } from '../../store/restored/restored-payments.ts'
import { counted } from '../../domain/values/counted.ts'
import { utcMinute } from '../../domain/values/utc-minute.ts'

/** Returns the lines about payments that the ledger knows from the chain alone: those without an answer one by one. */
export function restoredLines(report: RestoredReport | undefined): string[] {
  if (!report) return []
  const { isPending, payments, backupAt } = report
  if (isPending)
    return [
      `restored from a backup of ${utcMinute(new Date(backupAt))}: nothing is bought until the chain has been read, which begins when the last authorization of before the restore has ended`,
    ]
  const answered = payments.filter(({ state }) => state === 'settled').length
  const left = payments.filter(({ state }) => state !== 'settled')
  return [
    `restored from a backup of ${utcMinute(new Date(backupAt))}: ${counted(payments.length, 'payment')} after it on the chain, ${answered} with their answers again, ${left.length} without`,
    ...left.map(paymentLine),
  ]
}

function paymentLine({ transaction, amount, at, state, lookup }: RestoredPayment): string {
  const whose = lookup === null ? 'no lookup has asked for it again' : lookup
  return `  ${utcMinute(new Date(at))}  ${amount} USD  ${transaction ?? '-'}  ${state}: ${whose}`
}
