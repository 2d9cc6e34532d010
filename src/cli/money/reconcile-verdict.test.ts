import { expect, test } from 'vitest'
import type { Difference, Reconciliation } from '../../app/money/reconcile.ts'
import type { ServiceCount } from '../../app/money/service-count.ts'
import { isAgreed, verdictLines } from './reconcile-verdict.ts'

const none = { charges: 0, amount: '0.000000' }
const comparison = (differences: Difference[] = [], difference = '0.000000'): Reconciliation => ({
  currency: 'USD',
  wallet: '0x1',
  chain: { transfers: 2, amount: '0.020000' },
  ledger: { charges: 2, settled: '0.020000', lost: '0.000000', inDoubt: '0.000000' },
  difference,
  differences,
  elsewhere: { transfers: 0, amount: '0.000000' },
  moved: none,
  pending: none,
  unknown: none,
})
const count = (currency: 'USD' | 'credit', ledger: string, service: string, difference: string) => ({
  currency,
  charges: 2,
  counted: 2,
  credits: service,
  service,
  ledger,
  difference,
  unconfirmed: { charges: 0, amount: '0.000000' },
})
const said = (result: Reconciliation | undefined, ...counts: ServiceCount[]) => [
  isAgreed(result, counts),
  ...verdictLines(result, counts),
]

test('a comparison says first whether ledger and chain agree, and that a lower count of the service is no difference', () => {
  expect(said(comparison(), count('USD', '0.450000', '0.180000', '0.270000'))).toEqual([
    true,
    'OK: ledger and chain agree. The chain moved 0.020000 USD in 2 transfers, and each belongs to a charge of the ledger.',
    'OK: the service counts 0.180000 USD where 0.450000 were paid: a request pays the ceiling of its challenge, also for answers that cost less. The chain decides what was paid: nothing to do.',
  ])
  expect(said(comparison(), count('USD', '0.020000', '0.020000', '0.000000'))[2]).toBe(
    "OK: the service's own count agrees with the ledger (0.020000 USD).",
  )
})

test('each kind of difference says what to do, and only credits make the count of the service one', () => {
  const differences = (['not_in_ledger', 'not_on_chain', 'amount'] as const).map((kind): Difference => ({
    kind,
    ledger: '0.000000',
    chain: '0.010000',
  }))
  const [agrees, head, ...remedies] = said(comparison(differences, '-0.010000'))
  expect([agrees, head]).toEqual([
    false,
    'DIFFERENCE: ledger and chain differ in 3 payments, by -0.010000 USD (chain less ledger). Each is listed below.',
  ])
  expect(remedies).toEqual([
    expect.stringMatching(/^ {2}not_in_ledger: .*give Paydirt a wallet of its own/),
    expect.stringMatching(/^ {2}not_on_chain: .*Nothing is owed/),
    expect.stringMatching(/^ {2}amount: .*ask the service/),
  ])
  expect(said(undefined, count('credit', '2.000000', '3.000000', '-1.000000'))).toEqual([
    false,
    expect.stringMatching(/^DIFFERENCE: the service counts 3.000000 credits where the ledger has 2.000000/),
  ])
  expect(said(undefined, count('credit', '2.000000', '2.000000', '0.000000'))[0]).toBe(true)
})

test('credits that no answer confirms are named beside those that agree', () => {
  const unconfirmed = { charges: 1, amount: '2.000000' }
  expect(said(undefined, { ...count('credit', '6.000000', '6.000000', '0.000000'), unconfirmed })[1]).toBe(
    "OK: the service's own count agrees with the ledger (6.000000 credits). No answer confirms 2.000000 more credits in 1 charge: each is booked with the most that it may cost.",
  )
})
