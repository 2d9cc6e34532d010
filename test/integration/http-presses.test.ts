import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase, type OpenDatabase } from '../../src/store/database/database.ts'
import { createApiTokenLedger } from '../../src/store/access/api-tokens.ts'
import { createOnDemandLedger, type OnDemandRequest } from '../../src/store/runs/on-demand-tasks.ts'
import { createNonceLedger } from '../../src/store/access/nonces.ts'
import { layLedger } from '../support/ledger-template.ts'
import { freshStores, type FreshStores } from '../support/stores.ts'

/** Two processes on a server; embedded, two that share the one connection there is. */
let stores: FreshStores
let databases: OpenDatabase[]
let clock = new Date('2026-11-20T12:00:00Z')
const now = () => clock
const windowMs = 60_000

beforeAll(async () => {
  stores = await freshStores()
  await layLedger(stores.dataDir)
  const { databaseUrl: url, dataDir } = stores
  const first = await openDatabase({ dataDir, ...(url ? { url } : {}) })
  databases = [first, url ? await openDatabase({ dataDir, url }) : first]
})
afterAll(async () => {
  for (const database of new Set(databases)) await database.close()
  await stores.cleanup()
})

let runs = 0
function press(ids: string[], more: Partial<OnDemandRequest> = {}): OnDemandRequest {
  runs += 1
  return {
    runId: `r${runs}`,
    connector: 'hubspot',
    object: 'company',
    entity: 'companies',
    recipe: 'profile',
    trigger: 'button',
    source: { caller: 'test' },
    ids,
    ...more,
  }
}
const ledgers = () => databases.map(({ db }) => createOnDemandLedger(db, { now }))
const countOf = async (table: 'runs' | 'tasks') =>
  (await databases[0]!.db.selectFrom(table).select('id').execute()).length

test('presses that race for the same records, in whatever order, make one task of each', async () => {
  const ids = Array.from({ length: 20 }, (_, n) => `${100 + n}`)
  const before = await countOf('tasks')
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, n) => {
      // Every press has some of the records, forwards or backwards.
      const part = ids.slice(n % 10, (n % 10) + 10)
      return ledgers()[n % 2]!.openTasks(press(n % 3 === 0 ? part.reverse() : part), windowMs)
    }),
  )
  const byRecord = Map.groupBy(answers.flat(), ({ recordId }) => recordId)
  expect(byRecord.size).toBe(19)
  for (const tasks of byRecord.values()) {
    expect(new Set(tasks.map(({ taskId }) => taskId)).size).toBe(1)
    expect(tasks.filter(({ isNew }) => isNew)).toHaveLength(1)
  }
  expect((await countOf('tasks')) - before).toBe(19)
  for (const [index, answer] of answers.entries()) expect([index, answer.length]).toEqual([index, 10])
})

test('a press of records that are all under way makes no run, and a minute later it does', async () => {
  const [ledger] = ledgers()
  const [first] = await ledger!.openTasks(press(['1']), windowMs)
  const before = await countOf('runs')
  clock = new Date(clock.getTime() + 59_999)
  expect(await ledger!.openTasks(press(['1']), windowMs)).toEqual([{ ...first, isNew: false }])
  expect(await countOf('runs')).toBe(before)
  clock = new Date(clock.getTime() + 1)
  const [again] = await ledger!.openTasks(press(['1']), windowMs)
  expect(again).toMatchObject({ isNew: true })
  expect(again?.taskId).not.toBe(first?.taskId)
})

test('another recipe is another wish, and another entity another record', async () => {
  const [ledger] = ledgers()
  const names = []
  for (const more of [{}, { recipe: 'full' }, { entity: 'contacts' }, {}])
    names.push((await ledger!.openTasks(press(['2'], more), windowMs))[0]?.taskId)
  expect(new Set(names).size).toBe(3)
  expect(names[3]).toBe(names[0])
})

test('what may be used once is used once, by whichever process, until it has ended', async () => {
  const books = databases.map(({ db }) => createNonceLedger(db, { now }))
  const until = new Date(clock.getTime() + 300_000)
  const used = await Promise.all(Array.from({ length: 20 }, (_, n) => books[n % 2]!.use('digest', until)))
  expect(used.filter(Boolean)).toHaveLength(1)
  await books[0]!.giveBack('digest')
  expect(await books[1]!.use('digest', until)).toBe(true)
  clock = new Date(until.getTime())
  expect(await books[0]!.use('digest', new Date(until.getTime() + 1))).toBe(true)
  clock = new Date(clock.getTime() + 1)
  await books[0]!.prune()
  expect(await databases[0]!.db.selectFrom('replays').selectAll().execute()).toEqual([])
})

test('calls of a token are counted over both processes, and anew each minute', async () => {
  const tokens = databases.map(({ db }) => createApiTokenLedger(db, { now }))
  const wish = { id: 'one', name: 'n', scopes: ['read' as const], perMinute: 5, dayCapAtomic: null }
  await tokens[0]!.add(wish, 'digest of one')
  const counts = await Promise.all(
    Array.from({ length: 10 }, async (_, n) => (await tokens[n % 2]!.enter('digest of one'))?.calls),
  )
  expect(counts.sort((a, b) => (a ?? 0) - (b ?? 0))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  clock = new Date(clock.getTime() + 60_000)
  expect(await tokens[1]!.enter('digest of one')).toMatchObject({ calls: 1, token: { id: 'one' } })
  expect(await tokens[1]!.enter('another digest')).toBeUndefined()
})
