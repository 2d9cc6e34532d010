import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { createDice } from '../../src/sandbox/random.ts'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { openDatabase, type Database } from '../../src/store/database/database.ts'
import { openDesk, type Desk } from '../support/cli.ts'
import { dumpLedger, tracesIn } from '../support/dump-ledger.ts'
import { sized } from '../support/full-size.ts'
import type { RetentionOrder } from '../support/retention-process.ts'
import { runOrder } from '../support/run-order.ts'
import { testSeed } from '../support/seed.ts'

const sandbox = await startSandbox()
afterAll(() => sandbox.stop())

const rows = 7
const kills = sized(25, 5)
const urls = Array.from({ length: 60 }, (_, index) => `https://www.profnet.com/company/planted-${index}`)
  .filter((url) => companyAnswer(url).data !== null)
  .slice(0, rows)

async function withLedger<T>({ stores }: Desk, work: (db: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase({ url: stores.databaseUrl, dataDir: join(stores.dataDir, 'data') })
  try {
    return await work(database.db)
  } finally {
    await database.close()
  }
}

/** Returns the rows that the report has as erased, beside those that wait for it. A task that lets go of a lookup leaves a nameless row instead. */
function counts(db: Database) {
  return Promise.all(
    (['tasks', 'lookups', 'runs'] as const).map(async (name) => {
      const kept = name === 'lookups' ? sql`key not like '%|forgotten:%'` : sql`erased_at is null`
      const { rows: found } = await sql<{ erased: number; kept: number }>`
        select (select coalesce(sum(rows), 0)::int from erasures where name = ${name}) as erased,
          (select count(*)::int from ${sql.table(name)} where ${kept}) as kept`.execute(db)
      return { name, ...found[0]! }
    }),
  )
}

test('retention that is killed at any statement leaves no batch half done, and no amount changes', async () => {
  const desk = await openDesk(sandbox)
  try {
    await desk.write('in.csv', ['profnet_url', ...urls, ''].join('\n'))
    const bought = await desk.run(['csv', 'in.csv', '--object', 'company', '--out', 'out.csv', '--json'])
    expect(bought.status).toBe(0)
    const money = async () => {
      const reconciled = (await desk.run(['reconcile', '--json'])).json()
      const spent = (await desk.run(['spend', '--by', 'run', '--json'])).json()
      return { spent, ledger: reconciled['ledger'], difference: reconciled['difference'] }
    }
    const before = await money()
    expect(before.difference).toBe('0.000000')
    const isLeft = (db: Database) =>
      dumpLedger({ database: { db, kind: 'pglite', close: async () => {} } }).then((dump) =>
        tracesIn(dump, ['planted-', 'in.csv']),
      )
    expect(await withLedger(desk, isLeft)).not.toEqual([])

    const all = (await withLedger(desk, counts)).map(({ kept }) => kept)
    expect(all.map((total) => total > 0)).toEqual([true, true, true])
    const dice = createDice(`${testSeed()} retention`)
    const trace: string[] = []
    const order: RetentionOrder = {
      dataDir: join(desk.stores.dataDir, 'data'),
      url: desk.stores.databaseUrl,
      nowMs: Date.now() + 400 * 86_400_000,
    }
    for (let killed = 0; killed < kills; killed += 1) {
      // Further on with each kill, so that there is something to erase until the last.
      const killAfter = dice.integer(2, 12) + Math.floor((60 * killed) / kills)
      const { signal } = await runOrder('retention-process.ts', { ...order, killAfter })
      trace.push(`${signal ?? 'ended'} after ${killAfter}`)
      const now = await withLedger(desk, counts)
      expect({ trace, now: now.map(({ erased, kept }) => erased + kept) }).toEqual({ trace, now: all })
    }
    expect(trace.filter((line) => line.startsWith('SIGKILL')).length).toBeGreaterThan(kills / 2)
    const { printed } = await runOrder<{ erased: number }>('retention-process.ts', order)
    expect(printed?.erased).toBeGreaterThanOrEqual(0)
    const ended = await withLedger(desk, counts)
    expect(ended.map(({ erased, kept }) => [erased, kept])).toEqual(all.map((total) => [total, 0]))
    expect(await withLedger(desk, isLeft)).toEqual([])
    expect(await money()).toEqual(before)
  } finally {
    await desk.close()
  }
})
