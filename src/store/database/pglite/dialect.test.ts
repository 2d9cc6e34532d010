import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { Kysely, sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { layLedger } from '../../../../test/support/ledger-template.ts'
import { freshStores, type FreshStores } from '../../../../test/support/stores.ts'
import { goFirst } from '../go-first.ts'
import { createPGliteDialect } from './dialect.ts'

let stores: FreshStores
let db: Kysely<unknown>
/** The clock of the line: each statement takes 5 ms. */
let clockMs = 0

beforeAll(async () => {
  stores = await freshStores({})
  await layLedger(stores.dataDir)
  const client = await PGlite.create(join(stores.dataDir, 'pglite'))
  const dialect = createPGliteDialect(client, () => void (clockMs += 5), {
    nowMs: () => clockMs,
    // Longer than a busy machine is away between two statements.
    keptMs: 200,
  })
  db = new Kysely({ dialect })
})
afterAll(async () => {
  await db.destroy()
  await stores.cleanup()
})

const state = (on: Kysely<unknown> = db) => sql`select count(*) from generate_series(1, 5000)`.execute(on)

/** Runs statements one after the other for a tenth of a second, and returns the turns that the event loop had meanwhile. */
async function turnsDuring(on: Kysely<unknown>): Promise<number> {
  let [turns, isOver] = [0, false]
  const turn = () => {
    turns += 1
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  const startedMs = performance.now()
  for (let count = 0; count < 10 || performance.now() - startedMs < 100; count += 1) await state(on)
  isOver = true
  return turns
}

test('the event loop has turns while one caller sends statement after statement', async () => {
  expect(await turnsDuring(db)).toBeGreaterThan(4)
  const within = await db.transaction().execute((tx) => turnsDuring(tx))
  expect(within).toBeGreaterThan(4)
})

test('a statement that goes first does so, and a crowd of them leaves a turn to the others every 50 ms', async () => {
  const ended: string[] = []
  const done = (name: string) => () => void ended.push(name)
  await db
    .transaction()
    .execute(async (tx) => {
      const others = ['work 1', 'work 2'].map((name) => state().then(done(name)))
      const urgent = Array.from({ length: 25 }, () => goFirst(() => state()).then(done('first')))
      await state(tx)
      // Awaited after the transaction, whose connection they wait for.
      return [...others, ...urgent]
    })
    .then((all) => Promise.all(all))
  expect(ended.indexOf('work 1')).toBe(10)
  expect(ended.indexOf('work 2')).toBe(21)
})

test('the connection is kept for the next statement of somebody who goes first', async () => {
  const ended: string[] = []
  const done = (name: string) => () => void ended.push(name)
  const beginning = goFirst(() => state()).then(done('first 1'))
  const others = ['work 1', 'work 2'].map((name) => state().then(done(name)))
  await beginning
  await new Promise((resolve) => setImmediate(resolve))
  await goFirst(() => state()).then(done('first 2'))
  await Promise.all(others)
  expect(ended).toEqual(['first 1', 'first 2', 'work 1', 'work 2'])
})

test('somebody who goes first and sends nothing more keeps nobody waiting for good', async () => {
  const ended: string[] = []
  const done = (name: string) => () => void ended.push(name)
  const beginning = goFirst(() => state()).then(done('first'))
  const other = state().then(done('work'))
  await beginning
  await other
  await state().then(done('after'))
  expect(ended).toEqual(['first', 'work', 'after'])
})
