import { expect } from 'vitest'
import type { Accounts, ChargeRow } from './accounts.ts'

const finalStatuses = ['written', 'unchanged', 'skipped', 'rejected']

/** What holds after every fault. `rows`: records of the run. */
export function expectSound(accounts: Accounts, { rows }: { rows: number }): void {
  expectLedgerIsChain(accounts)
  expectOneLiveAuthorization(accounts)
  expectTasksEnded(accounts, rows)
}

/** The server keeps answers by payment id: nothing is lost and nothing bought twice. */
export function expectNothingLost({ charges, lookups, transfers }: Accounts): void {
  expect(charges.filter(({ state }) => state === 'lost')).toEqual([])
  expect(transfers).toHaveLength(lookups.filter(({ state }) => state === 'answered').length)
}

export function expectBoughtAgainAtMostOnce({ charges }: Accounts): void {
  for (const [key, all] of byKey(charges)) {
    const paid = all.filter(({ state }) => state === 'settled' || state === 'lost')
    expect(paid.length, `${key} was paid ${paid.length} times`).toBeLessThanOrEqual(2)
  }
}

/** Transaction by transaction and to the atomic unit. An open charge is not paid: if money of it had moved, this fails. */
function expectLedgerIsChain({ charges, transfers, differenceAtomic }: Accounts): void {
  const paid = charges.filter(({ state }) => state === 'settled' || state === 'lost')
  const line = (nonce: string | null, amount: bigint) => `${nonce} ${amount}`
  expect(transfers.map(({ nonce, amountAtomic }) => line(nonce, amountAtomic)).sort()).toEqual(
    paid.map(({ nonce, amountAtomic }) => line(nonce, amountAtomic)).sort(),
  )
  const transactions = new Map(transfers.map(({ nonce, transaction }) => [nonce, transaction]))
  for (const { nonce, transaction } of paid)
    if (transaction !== null) expect(transactions.get(nonce)).toBe(transaction)
  expect(differenceAtomic).toBe(0n)
}

/**
 * By the journal's history no charge began before the one before it was closed. By the chain: of several payments for a
 * lookup all but the last are known to be lost, and one that follows an expired authorization came when that was dead.
 */
function expectOneLiveAuthorization({ charges, transfers }: Accounts): void {
  const minedAt = new Map(transfers.map(({ nonce, at }) => [nonce, at]))
  for (const [key, all] of byKey(charges)) {
    for (const [index, charge] of all.entries()) {
      const next = all[index + 1]
      if (!next) continue
      expect(charge.closedMs, `${key}: attempt ${next.attempt} beside an open one`).not.toBeNull()
      expect(['lost', 'expired', 'declined']).toContain(charge.state)
      if (charge.state === 'declined') expect(charge.sends).toBe(0)
      const nextMinedAt = minedAt.get(next.nonce)
      if (charge.state === 'expired' && nextMinedAt !== undefined)
        expect(nextMinedAt, `${key}: paid again while it lived`).toBeGreaterThan(charge.validBefore)
    }
  }
}

function expectTasksEnded({ tasks }: Accounts, rows: number): void {
  const open = tasks.filter(
    ({ status, reason }) => !finalStatuses.includes(status) && !(status === 'parked' && reason),
  )
  expect(open).toEqual([])
  expect(tasks.reduce((sum, { count }) => sum + count, 0)).toBe(rows)
}

function byKey(charges: ChargeRow[]): Map<string, ChargeRow[]> {
  return Map.groupBy(charges, ({ key }) => key)
}
