import { expect } from 'vitest'
import type { RunEnd } from '../../src/app/runs/run-to-end.ts'
import type { Accounts, ChargeRow } from './accounts.ts'
import type { WorkerEnd } from './worker.ts'

const finalStatuses = ['written', 'unchanged', 'skipped', 'rejected']

/** Expects a process that reached the end of its run by itself, and this end where `wanted` is given. */
export function expectEnd({ status, signal, end, output }: WorkerEnd, wanted?: RunEnd): void {
  if (status !== 0) throw new Error(`a worker failed (${status ?? signal}):\n${output}`)
  if (wanted !== undefined) expect(end).toBe(wanted)
}

/** Expects the invariants that hold after every fault. `rows`: records of the run. */
export function expectSound(
  accounts: Accounts,
  { rows, mayAnswerLate = false }: { rows: number; mayAnswerLate?: boolean },
): void {
  expectLedgerIsChain(accounts)
  expectOneLiveAuthorization(accounts, mayAnswerLate)
  expectTasksEnded(accounts, rows)
}

/** For a server that stores answers by payment id: expects that nothing is lost and nothing is bought twice. */
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

/**
 * Compares transaction by transaction and to the atomic unit. An open charge counts as unpaid, so this fails if its
 * money has moved.
 */
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
 * Expects that no charge began before the previous one was dead. By the journal: the previous one was closed, as lost,
 * expired or never sent. By the chain: a lost one was used by then, and an expired one had expired when the next one
 * moved its money. An earlier charge ends as settled only where a process may still bring the answer of a charge that
 * already counts as lost.
 */
function expectOneLiveAuthorization({ charges, transfers }: Accounts, mayAnswerLate: boolean): void {
  const minedAt = new Map(transfers.map(({ nonce, at }) => [nonce, at]))
  const dead = ['lost', 'expired', 'declined', ...(mayAnswerLate ? ['settled'] : [])]
  for (const [key, all] of byKey(charges)) {
    for (const [index, charge] of all.entries()) {
      const next = all[index + 1]
      if (!next) continue
      expect(charge.closedMs, `${key}: attempt ${next.attempt} beside an open one`).not.toBeNull()
      expect(dead, `${key}: attempt ${charge.attempt}`).toContain(charge.state)
      if (charge.state === 'declined') expect(charge.sends).toBe(0)
      if (charge.state === 'lost' || charge.state === 'settled')
        expect(minedAt.get(charge.nonce), `${key}: started over too early`).toBeLessThanOrEqual(
          next.createdMs / 1000,
        )
      else expect(charge.closedMs).toBeLessThanOrEqual(next.createdMs)
      const nextMinedAt = minedAt.get(next.nonce)
      if (charge.state === 'expired' && nextMinedAt !== undefined)
        expect(nextMinedAt, `${key}: paid again while the earlier one was still valid`).toBeGreaterThan(
          charge.validBefore,
        )
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
