import { afterAll, beforeAll, expect, test } from 'vitest'
import { lookupKey } from '../../src/domain/keys.ts'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import { openLedgerRun } from '../support/ledger-run.ts'

let ledger: OpenDatabase
let close: () => Promise<void>
beforeAll(async () => void ({ database: ledger, close } = await openFreshLedger()))
afterAll(() => close())

test('a new lookup that its asker works is leased by nobody else until the time is over, and a known one is', async () => {
  let at = new Date('2026-05-05T05:05:05Z')
  const { keys, lookups, run } = await openLedgerRun(ledger, { lookups: 1, now: () => at })
  const [known] = keys
  const made = lookupKey('company.profile', `${run.id}/held`)
  const asked = [known!, made].map((key) => ({
    key,
    operation: 'company.profile' as const,
    request: { profnet_url: key },
  }))
  await lookups.want(asked, { id: run.id, connector: run.connector, hot: true, heldMs: 60_000 })
  const lease = () => lookups.lease(9, 1_000, true, { connectors: [run.connector] })
  expect(await lease()).toEqual([known])
  at = new Date(at.getTime() + 59_000)
  expect(await lease()).toEqual([known])
  at = new Date(at.getTime() + 1_000)
  expect((await lease()).sort()).toEqual([known, made].sort())
})
