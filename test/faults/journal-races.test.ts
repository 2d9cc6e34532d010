import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { LookupKey } from '../../src/domain/keys.ts'
import type { Authorization } from '../../src/domain/payment.ts'
import { createChargeJournal } from '../../src/store/ledger/charge-journal.ts'
import { openDatabase } from '../../src/store/database/database.ts'
import { createLookupLedger } from '../../src/store/ledger/lookups.ts'
import { createRunLedger } from '../../src/store/runs/runs.ts'
import { freshStores } from '../support/stores.ts'

const now = () => new Date()
const run = {
  connector: 'csv',
  object: 'company',
  entity: 'company',
  recipe: 'profile',
  trigger: 'csv',
  fingerprint: 'one file',
  source: {},
} as const

async function openJournal() {
  const stores = await freshStores()
  const { databaseUrl, dataDir } = stores
  const database = await openDatabase({ dataDir, url: databaseUrl })
  const runs = createRunLedger(database.db, { now })
  const key = 'company.profile|profnet.example/company/one' as LookupKey
  return {
    runs,
    key,
    journal: createChargeJournal(database.db, { now, newId: randomUUID }),
    async reserve() {
      await runs.open({ ...run, id: 'r1' })
      await createLookupLedger(database.db, { now }).want(
        [{ key, operation: 'company.profile', request: {} }],
        {
          id: 'r1',
          connector: 'csv',
          hot: false,
        },
      )
      return this.journal.reserve({
        lookupKey: key,
        operation: 'company.profile',
        runId: 'r1',
        connector: 'csv',
        endpoint: 'e',
        url: 'u',
        body: 'b',
        budget: [{ scope: 'run:r1', capAtomic: 10_000n }],
        amountAtomic: 10_000n,
        draw: (attempt) =>
          ({ nonce: `0x${attempt}`, terms: { protocol: 'x402' } }) as unknown as Authorization,
      })
    },
    async close() {
      await database.close()
      await stores.cleanup()
    },
  }
}

test('a charge that another process has just sent is not declined as never sent', async () => {
  const world = await openJournal()
  try {
    const { id } = await world.reserve()
    expect(await world.journal.markSent(id, now())).toBe('sent')
    expect(await world.journal.withdraw(id)).toBe(false)
    expect((await world.journal.unanswered(world.key)).open).toMatchObject({ id, state: 'sent' })
  } finally {
    await world.close()
  }
})

test('a charge that another process has declined is not sent, and its budget is free', async () => {
  const world = await openJournal()
  try {
    const { id } = await world.reserve()
    expect(await world.journal.withdraw(id)).toBe(true)
    expect(await world.journal.markSent(id, now())).toBe('closed')
    expect((await world.journal.unanswered(world.key)).open).toBeUndefined()
    expect(await world.reserve()).toMatchObject({ attempt: 2, state: 'journaled' })
  } finally {
    await world.close()
  }
})

test('several processes that begin the same run at once work on one run', async () => {
  const world = await openJournal()
  try {
    const opened = await Promise.all(
      Array.from({ length: 8 }, (_, index) => world.runs.open({ ...run, id: `r${index}` })),
    )
    expect(new Set(opened.map((it) => it.run.id)).size).toBe(1)
    expect(opened.filter(({ resumed }) => !resumed)).toHaveLength(1)
  } finally {
    await world.close()
  }
})
