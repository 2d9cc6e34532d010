import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lookupKey } from '../../src/domain/keys.ts'
import type { TaskStatus } from '../../src/domain/words.ts'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import { createLookupLedger } from '../../src/store/ledger/lookups.ts'
import { updateRunStates } from '../../src/store/runs/run-states.ts'
import { createRunLedger } from '../../src/store/runs/runs.ts'
import { createTaskLedger } from '../../src/store/runs/tasks.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import { scannedTask } from '../support/scanned-task.ts'

let database: OpenDatabase
let close: () => Promise<void>
const at = new Date('2026-05-05T05:05:05Z')
const now = () => at

beforeAll(async () => void ({ database, close } = await openFreshLedger()))
afterAll(() => close())

/** A run with a task of each of these states, each waiting for a lookup of its own where it waits. */
async function runOf(statuses: TaskStatus[], options: { connector?: string; keys?: string[] } = {}) {
  const { db } = database
  const [runs, tasks, lookups] = [
    createRunLedger(db, { now }),
    createTaskLedger(db, { now }),
    createLookupLedger(db, { now }),
  ]
  const id = randomBytes(5).toString('hex')
  const connector = options.connector ?? `c${id}`
  const { run } = await runs.open({
    id: `run-${id}`,
    connector,
    object: 'company',
    entity: 'companies',
    recipe: 'profile',
    trigger: 'schedule',
    fingerprint: id,
    source: {},
  })
  const keys = statuses.map((_, index) =>
    lookupKey('company.profile', options.keys?.[index] ?? `${id}/${index}`),
  )
  const wanted = keys.map((key) => ({ key, operation: 'company.profile' as const, request: {} }))
  await lookups.want(wanted, { id: run.id, connector, hot: false })
  await tasks.insertPage(
    run.id,
    statuses.map((status, index) => scannedTask(index + 1, keys[index] ?? null, { status })),
    'w1',
  )
  const state = async () => (await runs.get(run.id))?.state
  return { run, runs, tasks, lookups, keys, state }
}

const setStatus = (runId: string, status: TaskStatus) =>
  database.db
    .updateTable('tasks')
    .set({ status, waiting_for: null })
    .where('run_id', '=', runId)
    .where('status', 'in', ['looking_up', 'parked', 'ready'])
    .execute()

test('a run is closed when its scan is done and no task is open, and not before', async () => {
  const { run, runs, state } = await runOf(['looking_up', 'written', 'skipped'])
  await updateRunStates(database.db, at, ['csv'])
  expect(await state()).toBe('scanning')
  await setStatus(run.id, 'written')
  await updateRunStates(database.db, at, ['csv'])
  expect(await state()).toBe('scanning')
  await runs.markScanned(run.id)
  const moves = await updateRunStates(database.db, at, ['csv'])
  expect(moves).toMatchObject([{ id: run.id, from: 'working', to: 'finished' }])
  expect(await runs.get(run.id)).toMatchObject({ state: 'finished', finishedAt: at })
  expect(await updateRunStates(database.db, at, ['csv'])).toEqual([])
})

test('a run whose rest is parked is parked, works again when it goes on, and then ends', async () => {
  const { run, runs, tasks, lookups, keys, state } = await runOf(['looking_up', 'written'])
  await runs.markScanned(run.id)
  await lookups.park(keys[0]!, new Date(at.getTime() - 1), { code: 'budget_day', reason: 'the day is full' })
  await updateRunStates(database.db, at, ['csv'])
  expect(await state()).toBe('parked')
  expect((await runs.get(run.id))?.finishedAt).toBeNull()
  expect(await lookups.lease(10, 1_000, false, { connectors: [run.connector] })).toContain(keys[0])
  await updateRunStates(database.db, at, ['csv'])
  expect(await state()).toBe('working')
  expect((await tasks.counts(run.id)).looking_up).toBe(1)
  await setStatus(run.id, 'unchanged')
  await updateRunStates(database.db, at, ['csv'])
  expect(await state()).toBe('finished')
})

test('what a stopped run wants is parked and not handed out, and goes on when the run does', async () => {
  const { run, runs, tasks, lookups, keys, state } = await runOf(['looking_up', 'looking_up'])
  await runs.markScanned(run.id)
  await runs.setState(run.id, 'stopped')
  await updateRunStates(database.db, at, ['csv'])
  expect(await state()).toBe('stopped')
  expect(await lookups.lease(10, 1_000, false, { connectors: [run.connector] })).toEqual([])
  expect(await tasks.reasons(run.id)).toEqual([
    { status: 'parked', reason: 'its run is stopped', count: 2, first: expect.any(String) },
  ])
  await runs.setState(run.id, 'working')
  await updateRunStates(database.db, at, ['csv'])
  expect((await lookups.lease(10, 1_000, false, { connectors: [run.connector] })).sort()).toEqual(
    [...keys].sort(),
  )
  await updateRunStates(database.db, at, ['csv'])
  expect(await state()).toBe('working')
})

test('a lookup that another run waits for goes on when the run that asked for it stops', async () => {
  const key = `shared/${randomBytes(4).toString('hex')}`
  const other = await runOf(['looking_up'], { keys: [key] })
  const stopped = await runOf(['looking_up'], { keys: [key], connector: other.run.connector })
  await stopped.runs.markScanned(stopped.run.id)
  await stopped.runs.setState(stopped.run.id, 'stopped')
  await updateRunStates(database.db, at, ['csv'])
  const lookup = await other.lookups.get(other.keys[0]!)
  expect(lookup).toMatchObject({ state: 'waiting', runId: other.run.id, runStopped: false })
})

test('a stopped run with nothing left to do ends; a CSV run is never touched', async () => {
  const done = await runOf(['written'])
  const csv = await runOf(['written'], { connector: 'csv' })
  for (const { run, runs } of [done, csv]) {
    await runs.markScanned(run.id)
    await runs.setState(run.id, 'stopped')
  }
  await updateRunStates(database.db, at, ['csv'])
  expect([await done.state(), await csv.state()]).toEqual(['finished', 'stopped'])
})

test('many processes at once close each run once', async () => {
  const made = await Promise.all(Array.from({ length: 5 }, () => runOf(['written'])))
  for (const { run, runs } of made) await runs.markScanned(run.id)
  const rounds = await Promise.all(Array.from({ length: 8 }, () => updateRunStates(database.db, at, ['csv'])))
  const closed = [...rounds.flat(), ...(await updateRunStates(database.db, at, ['csv']))].map(({ id }) => id)
  expect(closed.sort()).toEqual(made.map(({ run }) => run.id).sort())
})
