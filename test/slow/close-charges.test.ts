import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { RunSummary } from '../../src/app/runs/summary.ts'
import { API_KEY, API_KEY_HEADER } from '../../src/sandbox/accounts.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { createAuditLog } from '../../src/store/access/audit.ts'
import { chargesToDecide, closeCharges } from '../../src/store/ledger/close-charges.ts'
import { openDatabase, type Database } from '../../src/store/database/database.ts'
import { openDesk, type Desk } from '../support/cli.ts'
import { makeFile } from '../support/spellings.ts'

let sandbox: Sandbox
let desk: Desk

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
beforeEach(async () => {
  sandbox.faults.reset()
  desk = await openDesk(sandbox, { fundsAtomic: 0n, config: { budgets: { creditsRun: 4 } } as never })
  await desk.write('in.csv', makeFile(['one', 'two', 'three', 'four']).csv)
})
afterEach(() => desk.close())

const command = ['csv', 'in.csv', '--object', 'company', '--out', 'out.csv', '--json']
const run = (...args: string[]) =>
  desk.run(args, {
    PAYDIRT_API_KEY: API_KEY,
    PAYDIRT_API_KEY_HEADER: API_KEY_HEADER,
    PAYDIRT_WALLET_KEY: undefined,
  })

interface ToDecide {
  toDecide?: { charge: string; currency: string; amount: string; answered: boolean }[]
}

async function inLedger<T>(work: (db: Database) => Promise<T>): Promise<T> {
  const { databaseUrl, dataDir } = desk.stores
  const database = await openDatabase({
    dataDir: join(dataDir, 'data'),
    ...(databaseUrl === undefined ? {} : { url: databaseUrl }),
  })
  try {
    return await work(database.db)
  } finally {
    await database.close()
  }
}

const committed = (db: Database) =>
  db
    .selectFrom('budgets')
    .select('committed_atomic')
    .where('scope', 'like', 'credits:run:%')
    .executeTakeFirstOrThrow()
    .then((row) => row.committed_atomic)

test('what direct access left in doubt stays so until a person has decided, and then goes on', async () => {
  sandbox.faults.set({ dropBeforeSettlement: { next: 3 } })
  const first = await run(...command)
  expect(first).toMatchObject({ status: 3 })
  expect(first.json<RunSummary>().tasks).toMatchObject({ written: 1, parked: 3 })

  // Neither another run nor the resolver asks twice: the budget is held, and so are the records.
  const again = await run('reconcile', '--json')
  const { toDecide = [] } = again.json<ToDecide>()
  expect(toDecide).toMatchObject(
    [1, 2, 3].map(() => ({ currency: 'credit', amount: '1.000000', answered: false })),
  )
  const [a = '', b = '', c = ''] = toDecide.map(({ charge }) => charge)

  const refused = await run('reconcile', '--close', a, 'nonsense', '--as', 'declined')
  expect(refused).toMatchObject({ status: 2, stdout: '' })
  expect(refused.stderr).toContain('nonsense is not a charge that a person has to decide')
  expect(await inLedger(committed)).toBe(4_000_000n)

  expect(await run('reconcile', '--close', a, b, '--as', 'declined')).toMatchObject({ status: 0 })
  const lost = await run('reconcile', '--close', c, '--as', 'lost', '--json')
  expect(lost.json()).toMatchObject({ as: 'lost', closed: [{ charge: c, amount: '1.000000' }] })

  await inLedger(async (db) => {
    // Two of four credits are back; one settled, and one is gone.
    expect(await committed(db)).toBe(2_000_000n)
    const rows = await createAuditLog(db, { now: () => new Date() }).list(10)
    expect(
      rows.map(({ actor, action, target, details }) => [actor, action, target, details?.['as']]),
    ).toEqual([
      ['cli', 'charge.close', c, 'lost'],
      ...[a, b]
        .sort()
        .reverse()
        .map((id) => ['cli', 'charge.close', id, 'declined']),
      // The comparison that left them in doubt.
      ['cli', 'reconcile', undefined, undefined],
    ])
    const due = await db
      .selectFrom('lookups')
      .select('key')
      .where('due_at', '<=', new Date())
      .where('state', '=', 'parked')
      .execute()
    expect(due).toHaveLength(3)
  })

  // Two are bought with what came back; the one that was lost has used its part of the budget.
  const second = await run(...command)
  expect(second.json<RunSummary>().tasks).toMatchObject({ written: 3, parked: 1 })
  expect((await run('reconcile', '--json')).json<ToDecide>().toDecide).toBeUndefined()
}, 240_000)

test('a charge that is only sent is a worker’s for a while, and an answer that is here can be settled or was free', async () => {
  sandbox.faults.set({ dropBeforeSettlement: { next: 2 } })
  await run(...command)
  await inLedger(async (db) => {
    const now = new Date()
    const [first, second] = await chargesToDecide(db, now)
    if (!first || !second) throw new Error('nothing is in doubt')
    await db.updateTable('charges').set({ state: 'sent', sent_at: now }).where('id', '=', first.id).execute()
    const decide = (id: string, as: 'declined' | 'lost' | 'settled', at = now) =>
      closeCharges(db, { ids: [id], as, now: at, actor: 'a test', role: 'shell' })
    await expect(decide(second.id, 'settled')).rejects.toThrow(`${second.id} has no answer in the ledger`)
    await expect(decide(first.id, 'declined')).rejects.toThrow('is not a charge that a person has to decide')
    const later = new Date(now.getTime() + 11 * 60_000)
    expect(await decide(first.id, 'declined', later)).toHaveLength(1)

    const key = db.selectFrom('charges').select('lookup_key').where('id', '=', second.id)
    await db.updateTable('lookups').set({ state: 'answered' }).where('key', '=', key).execute()
    await expect(decide(second.id, 'lost')).rejects.toThrow('If it was charged, close it as settled')
    const before = await committed(db)
    await decide(second.id, 'settled')
    expect(await committed(db)).toBe(before)
    // Twice is once: it is decided.
    await expect(decide(second.id, 'declined')).rejects.toThrow('is not a charge that a person has to decide')
    const states = await db.selectFrom('charges').select('state').execute()
    expect(states.map(({ state }) => state).sort()).toEqual(['declined', 'settled', 'settled', 'settled'])
  })
})
