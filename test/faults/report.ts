import { writeSync } from 'node:fs'
import type { Accounts } from './accounts.ts'

const usd = (atomic: bigint) => {
  const sign = atomic < 0n ? '-' : ''
  const digits = String(atomic < 0n ? -atomic : atomic).padStart(7, '0')
  return `${sign}${digits.slice(0, -6)}.${digits.slice(-6)}`
}

/** Prints one line per fault, bypassing the reporter: people read the output of `test:faults`. */
export function reportFault(fault: string, kills: number, accounts: Accounts): void {
  const { requests, transfers, settledAtomic, lostAtomic, openAtomic, differenceAtomic } = accounts
  const counts = [
    `kills ${String(kills).padStart(3)}`,
    `requests ${String(requests).padStart(5)}`,
    `transfers ${String(transfers.length).padStart(4)}`,
    `settled ${usd(settledAtomic)}`,
    `lost ${usd(lostAtomic)}`,
    `in doubt ${usd(openAtomic)}`,
    `difference ${usd(differenceAtomic)}`,
  ]
  writeSync(2, `fault  ${fault.padEnd(64)}  ${counts.join('  ')}\n`)
}
