import { expect, test } from 'vitest'
import { LedgerAdapter, type Connected } from '../packed/ledger-adapter.ts'
import { EmbeddedAdapter } from './embedded.ts'
import { waitsOf } from './gathering.ts'
import { goFirst } from './go-first.ts'

const ledger = (adapter: LedgerAdapter) => ({ getExecutor: () => ({ adapter }) }) as unknown as Connected

test('the embedded ledger gathers larger groups than a server does', () => {
  expect(waitsOf(ledger(new EmbeddedAdapter())).gathering).toEqual({ times: 6, mostMs: 150, quietMs: 5 })
  expect(waitsOf(ledger(new LedgerAdapter())).gathering).toEqual({ times: 4, mostMs: 75, quietMs: 5 })
})

test('a press waits for no group of either', async () => {
  for (const adapter of [new EmbeddedAdapter(), new LedgerAdapter()]) {
    const { isUrgent } = waitsOf(ledger(adapter))
    expect(isUrgent()).toBe(false)
    expect(await goFirst(async () => isUrgent())).toBe(true)
  }
})
