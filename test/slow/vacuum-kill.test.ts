import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { createDice } from '../../src/sandbox/random.ts'
import { openDatabase } from '../../src/store/database/database.ts'
import { layLedger } from '../support/ledger-template.ts'
import { testSeed } from '../support/seed.ts'
import { freshStores } from '../support/stores.ts'

const program = join(import.meta.dirname, '../support/vacuum-process.ts')

/** Works until so many rounds were committed, kills the process then, and returns the last round that it has told of. */
async function workAndKill(dataDir: string, after: number, rounds: number): Promise<number> {
  const child = spawn(process.execPath, ['--no-warnings', program, dataDir, String(after)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  let told = after
  for await (const line of createInterface({ input: child.stdout })) {
    told = Number(line)
    if (told >= after + rounds) child.kill('SIGKILL')
  }
  const [, signal] = (await ended) as [number | null, string | null]
  expect(signal).toBe('SIGKILL')
  return told
}

test('what was committed is there after a kill while an embedded ledger is vacuumed', async () => {
  const stores = await freshStores()
  onTestFinished(() => stores.cleanup())
  const dataDir = join(stores.dataDir, 'embedded')
  await layLedger(dataDir)
  const dice = createDice(`vacuum ${testSeed()}`)
  let told = 0
  for (let kill = 0; kill < 3; kill += 1) {
    told = await workAndKill(dataDir, told, 5 + Math.floor(20 * dice.roll()))
    const { db, close } = await openDatabase({ dataDir })
    const by = async (how: 'enable_seqscan' | 'enable_indexscan') =>
      db.transaction().execute(async (tx) => {
        await sql`select set_config(${how}, 'off', true)`.execute(tx)
        if (how === 'enable_indexscan')
          await sql`select set_config('enable_bitmapscan', 'off', true)`.execute(tx)
        const { rows } = await sql<{ count: number; low: number; high: number }>`
          select count(*)::int as count, min(value::int)::int as low, max(value::int)::int as high
          from meta where key >= 'kill/' and key < 'kill0'`.execute(tx)
        return rows[0]
      })
    const found = await by('enable_seqscan')
    // Every row is of one round: the last one told of, or the one that was committed when the process was killed.
    expect(found).toMatchObject({ count: 500, low: found?.high })
    expect(found?.high).toBeGreaterThanOrEqual(told)
    // Table and index agree.
    expect(await by('enable_indexscan')).toEqual(found)
    told = found?.high ?? 0
    await close()
  }
})
