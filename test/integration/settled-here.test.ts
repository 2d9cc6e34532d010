import { randomUUID } from 'node:crypto'
import type { LogEvent } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lookupKey } from '../../src/domain/keys.ts'
import type { StoredAnswer } from '../../src/domain/ports/charge-journal.ts'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import { createChargeJournal } from '../../src/store/ledger/charge-journal.ts'
import { createLookupLedger, type SettledHere } from '../../src/store/ledger/lookups.ts'
import { eraseLookups } from '../../src/store/subjects/erase-subject.ts'
import { createJustNow } from '../../src/timing/just-now.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import { openLedgerRun } from '../support/ledger-run.ts'

// An answer that this process has just stored is handed to its next step, and must be the one that the ledger has.

let database: OpenDatabase
let close: () => Promise<void>
let statements: LogEvent[] = []
const now = () => new Date('2026-05-05T05:05:05Z')
const later = new Date('2026-06-05T05:05:05.678Z')

beforeAll(
  async () =>
    void ({ database, close } = await openFreshLedger({ onQuery: (event) => void statements.push(event) })),
)
afterAll(() => close())

async function stage(lookups: number) {
  const world = await openLedgerRun(database, { lookups, now })
  const settled: SettledHere = createJustNow({ mostMs: 60_000, most: 100 })
  const journal = createChargeJournal(database.db, { now, newId: randomUUID, settled })
  const ids: string[] = []
  for (const key of world.keys)
    ids.push((await world.reserve(key, [{ scope: `run:${world.id}`, capAtomic: 1_000_000n }])).id)
  const settle = (index: number, answer: StoredAnswer) =>
    journal.settleCharge(
      { id: ids[index]!, lookupKey: world.keys[index]! },
      { transaction: '0x1', at: now() },
      answer,
    )
  return { ...world, ids, settle, here: createLookupLedger(database.db, { now, settled }) }
}

const found = (data: Record<string, unknown>, freshUntil = later): StoredAnswer => ({
  outcome: 'found',
  data,
  freshUntil,
})

test('an answer that was stored here is not read back, and is what the ledger has', async () => {
  const world = await stage(4)
  await Promise.all([
    // Long enough to be packed, where rows are.
    world.settle(
      3,
      found({ description: 'a long "text" of 株 '.repeat(20), metadata: { cost: 1 }, logo: null }),
    ),
    world.settle(0, found({ company_name: 'Ä "quoted" \\ 株', company_size: 1.5, people: [{ name: null }] })),
    world.settle(1, { outcome: 'not_found', data: null, freshUntil: later }),
    world.settle(2, { outcome: 'unreadable', data: { raw: '<html>' }, freshUntil: later }),
  ])
  statements = []
  const handed = await world.here.facts(world.keys, { orSettledHere: true })
  expect(statements).toEqual([])
  expect(handed).toEqual(await world.lookups.facts(world.keys))
  expect(handed.size).toBe(4)
  // Handed on once: whoever comes later reads the ledger.
  statements = []
  await world.here.facts(world.keys, { orSettledHere: true })
  expect(statements.length).toBeGreaterThan(0)
})

test('whoever does not plan the next step reads the ledger', async () => {
  const world = await stage(1)
  await world.settle(0, found({ company_name: 'a' }))
  await database.db
    .updateTable('lookups')
    .set({ answer: '{"company_name":"b"}' })
    .where('key', '=', world.keys[0]!)
    .execute()
  expect((await world.here.facts(world.keys)).get(world.keys[0]!)?.data).toEqual({ company_name: 'b' })
  const handed = await world.here.facts(world.keys, { orSettledHere: true })
  expect(handed.get(world.keys[0]!)?.data).toEqual({ company_name: 'a' })
})

test.each([1, 200])('an answer that the ledger has in other characters is read from there', async (times) => {
  const world = await stage(1)
  await world.settle(0, found({ company_name: 'a\0b'.repeat(times) }))
  expect((await world.here.facts(world.keys, { orSettledHere: true })).get(world.keys[0]!)?.data).toEqual({
    company_name: 'ab'.repeat(times),
  })
})

test.each([
  ['', false],
  [', not even where it is asked for again', true],
])(
  'an answer that comes when its subject was forgotten is not stored%s, and those beside it are',
  async (_, isAskedAgain) => {
    const world = await stage(2)
    const names = world.keys.map(() => `profnet.com/company/${randomUUID()}`)
    await world.journal.lose(world.ids[0]!, '0x1', 'no answer')
    const forgotten = lookupKey('company.profile', randomUUID())
    await database.db.transaction().execute((tx) => eraseLookups(tx, new Map([[world.keys[0]!, forgotten]])))
    if (isAskedAgain)
      await world.lookups.want(world.wanted, { id: world.run.id, connector: world.connector, hot: false })
    await Promise.all(
      names.map((name, index) => world.settle(index, found({ profnet_url: `https://${name}` }))),
    )
    expect(await world.states()).toEqual(['settled', 'settled'])
    expect((await world.lookups.facts([forgotten])).get(forgotten)).toMatchObject({
      outcome: 'failed',
      data: null,
    })
    expect([...(await world.here.facts(world.keys, { orSettledHere: true })).keys()]).toEqual([world.keys[1]])
    const taught = await database.db
      .selectFrom('subject_names')
      .select('name')
      .where('subject', 'in', names)
      .execute()
    expect(taught.map(({ name }) => name)).toContain(names[1])
    expect(taught.map(({ name }) => name)).not.toContain(names[0])
  },
)

test('an answer that may be asked anew at once is read: another run may wait for the next one', async () => {
  const world = await stage(1)
  await world.settle(0, found({ company_name: 'a' }, now()))
  await world.lookups.want(world.wanted, { id: world.run.id, connector: world.connector, hot: false })
  expect((await world.here.facts(world.keys, { orSettledHere: true })).size).toBe(0)
})

test('nothing is handed on of a settlement that was not committed', async () => {
  const world = await stage(1)
  const circular: Record<string, unknown> = {}
  circular['self'] = circular
  await expect(world.settle(0, found(circular))).rejects.toThrow('circular')
  expect((await world.here.facts(world.keys, { orSettledHere: true })).size).toBe(0)
})

test('a charge that was settled before hands nothing on', async () => {
  const world = await stage(1)
  await world.settle(0, found({ company_name: 'first' }))
  await world.here.facts(world.keys, { orSettledHere: true })
  await world.settle(0, found({ company_name: 'second' }))
  expect((await world.here.facts(world.keys, { orSettledHere: true })).get(world.keys[0]!)?.data).toEqual({
    company_name: 'first',
  })
})
