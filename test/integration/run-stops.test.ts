import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RetriableError } from '../../src/domain/errors.ts'
import { lookupKey } from '../../src/domain/keys.ts'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import { createLookupLedger } from '../../src/store/ledger/lookups.ts'
import { parkLeftOfRun } from '../../src/store/runs/parked-runs.ts'
import { updateRunStates } from '../../src/store/runs/run-states.ts'
import { resumeRun, stopRun } from '../../src/store/runs/run-stops.ts'
import { createRunLedger } from '../../src/store/runs/runs.ts'
import { createTaskLedger } from '../../src/store/runs/tasks.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import { challenge, found, plain, setStage, transaction } from '../support/payer-stage.ts'
import { scannedTask } from '../support/scanned-task.ts'

let database: OpenDatabase
let close: () => Promise<void>
const at = new Date('2026-05-05T05:05:05Z')
const now = () => at
beforeAll(async () => void ({ database, close } = await openFreshLedger()))
afterAll(() => close())

const background = ['hubspot', 'salesforce']
const stop = (id: string, reason = 'wrong mapping', by = 'otto') =>
  stopRun(database.db, id, { by, reason, now: at })
const resume = (id: string) => resumeRun(database.db, id, { now: at, background })
const states = () => updateRunStates(database.db, at, ['csv'])

/** A scanned run whose records wait for these lookups. */
async function runOf(names: string[], { connector = 'hubspot', isScanned = true } = {}) {
  const { db } = database
  const [runs, tasks, lookups] = [
    createRunLedger(db, { now }),
    createTaskLedger(db, { now }),
    createLookupLedger(db, { now }),
  ]
  const id = `run-${randomBytes(5).toString('hex')}`
  const base = { id, connector, object: 'company', entity: 'companies', recipe: 'profile' } as const
  const open = () => runs.open({ ...base, trigger: 'sync', fingerprint: id, source: {} })
  await open()
  const keys = names.map((name) => lookupKey('company.profile', `profnet.test/company/${name}`))
  const wanted = keys.map((key) => ({ key, operation: 'company.profile' as const, request: {} }))
  const want = () => lookups.want(wanted, { id, connector, hot: false })
  await want()
  await tasks.insertPage(
    id,
    keys.map((key, index) => scannedTask(index + 1, key)),
    'w1',
  )
  if (isScanned) await runs.markScanned(id)
  const state = async () => (await runs.get(id))?.state
  const lease = () => lookups.lease(100, 1_000, false, { runId: id })
  return { id, runs, tasks, lookups, keys, want, open, state, lease }
}

const unique = () => randomBytes(4).toString('hex')

describe('a run that a person stops', () => {
  test('lets what is free complete the records that were paid for, and parks the others', async () => {
    const [paid, other] = [unique(), unique()]
    const run = await runOf([paid, other])
    const { lookups, tasks, id } = run
    const logo = lookupKey('company.logo', `${paid}.example`)
    // The profile was paid for, and its record waits for the logo.
    await lookups.want([{ key: logo, operation: 'company.logo', request: { domain: `${paid}.example` } }], {
      id,
      connector: 'hubspot',
      hot: false,
    })
    await database.db
      .updateTable('tasks')
      .set({ waiting_for: logo, steps: [run.keys[0]!] })
      .where('run_id', '=', id)
      .where('ordinal', '=', 1)
      .execute()
    await database.db
      .updateTable('lookups')
      .set({ state: 'failed', reason: 'x' })
      .where('key', '=', run.keys[0]!)
      .execute()
    await stop(id)
    expect(await tasks.counts(id)).toMatchObject({ looking_up: 1, parked: 1 })
    expect(await run.runs.isUnderWay(id)).toBe(true)
    await states()
    expect(await run.lease()).toEqual([logo])
    // Its command has ended, so that it is no longer asked for.
    await parkLeftOfRun(database.db, id, at)
    expect(await tasks.counts(id)).toMatchObject({ looking_up: 0, parked: 2 })
    expect(await run.runs.isUnderWay(id)).toBe(false)
  })

  test('is stopped until a person resumes it, over every way on which runs go on by themselves', async () => {
    const run = await runOf([unique(), unique()])
    expect(await stop(run.id)).toBe(true)
    const parked = { status: 'parked', reason: 'stopped by otto: wrong mapping', count: 2 }
    expect(await run.tasks.reasons(run.id)).toMatchObject([parked])
    expect(await run.lease()).toEqual([])
    for (const next of ['working', 'scanning', 'parked'] as const) {
      await run.runs.setState(run.id, next)
      expect(await run.state()).toBe('stopped')
    }
    await states()
    expect(await run.state()).toBe('stopped')
    await expect(run.open()).rejects.toMatchObject({
      code: 'run_stopped',
      message: expect.stringMatching(/stopped by otto: wrong mapping .*paydirt runs run-\w+ --resume/),
    })
    // A second order leaves the first as it is.
    expect(await stop(run.id, 'other', 'ada')).toBe(true)
    expect(await run.runs.stopOf(run.id)).toMatchObject({ by: 'otto', reason: 'wrong mapping' })

    expect(await resume(run.id)).toBe('workers')
    expect(await run.runs.stopOf(run.id)).toBeUndefined()
    expect(await run.state()).toBe('working')
    expect((await run.lease()).sort()).toEqual([...run.keys].sort())
    expect(await resume(run.id)).toBeUndefined()
  })

  test('is put back when an older process has set another state', async () => {
    const run = await runOf([unique()])
    await stop(run.id)
    await database.db.updateTable('runs').set({ state: 'working' }).where('id', '=', run.id).execute()
    expect(await run.lookups.get(run.keys[0]!)).toMatchObject({ runStopped: true })
    await states()
    expect(await run.state()).toBe('stopped')
  })

  test('parks what asks afterwards, and what waited for a time of its own', async () => {
    const run = await runOf([unique()])
    await run.lookups.park(run.keys[0]!, new Date(at.getTime() + 1_000), {
      code: 'budget_day',
      reason: 'the day is full',
    })
    await stop(run.id, '')
    expect(await run.tasks.reasons(run.id)).toMatchObject([{ reason: 'stopped by otto', count: 1 }])
    const late = lookupKey('company.profile', `profnet.test/company/${unique()}`)
    await run.lookups.want([{ key: late, operation: 'company.profile', request: {} }], {
      id: run.id,
      connector: 'hubspot',
      hot: false,
    })
    await states()
    expect(await run.lookups.get(late)).toMatchObject({ state: 'parked', runStopped: true })
    expect(await run.lease()).toEqual([])
  })

  test('leaves to another run what both wait for, also when it asks again', async () => {
    const name = unique()
    const other = await runOf([name])
    const run = await runOf([name])
    expect(await other.lookups.get(run.keys[0]!)).toMatchObject({ runId: run.id })
    await stop(run.id)
    const owned = { state: 'waiting', runId: other.id, runStopped: false }
    expect(await other.lookups.get(run.keys[0]!)).toMatchObject(owned)
    await run.want()
    expect(await other.lookups.get(run.keys[0]!)).toMatchObject(owned)
    expect(await other.lease()).toEqual(other.keys)
  })

  test('ends when its last record has ended, and takes no order after that', async () => {
    const run = await runOf([unique()])
    await stop(run.id)
    await database.db
      .updateTable('tasks')
      .set({ status: 'written', waiting_for: null })
      .where('run_id', '=', run.id)
      .execute()
    await states()
    expect(await run.state()).toBe('finished')
    expect(await run.runs.stopOf(run.id)).toBeUndefined()
    expect(await stop(run.id)).toBe(false)
    expect(await stop('run-unknown')).toBe(false)
  })

  test('of a file, or of a sync that was not read to its end, waits for its command when it is resumed', async () => {
    for (const run of [
      await runOf([unique()], { connector: 'csv' }),
      await runOf([unique()], { isScanned: false }),
    ]) {
      await stop(run.id, 'x'.repeat(5_000))
      expect(await resume(run.id)).toBe('command')
      expect(await run.state()).toBe('stopped')
      expect(await run.tasks.reasons(run.id)).toMatchObject([{ reason: 'its run is stopped', count: 1 }])
      const { run: opened, resumed } = await run.open()
      expect({ id: opened.id, resumed }).toEqual({ id: run.id, resumed: true })
      expect(await run.lookups.unpark(run.id)).toBe(1)
    }
  })
})

describe('a payment of a run that a person stops', () => {
  const stopped = { name: 'RetriableError', code: 'run_stopped', countsAsTry: false }
  const killed = async (): Promise<never> => {
    throw new RetriableError('killed', 'killed')
  }

  test('is not reserved', async () => {
    const stage = await setStage(database.db)
    await stop(stage.run.id)
    stage.script(challenge())
    await expect(stage.startPayer().buy(stage.purchase)).rejects.toMatchObject(stopped)
    expect(await stage.charges()).toEqual([])
    expect(stage.turns.done).toBe(stage.turns.taken)
  })

  test('that was reserved and not sent when its process was killed stays unsent, and goes out once it is resumed', async () => {
    const stage = await setStage(database.db)
    stage.script(challenge())
    await expect(stage.startPayer({ markSent: killed }).buy(stage.purchase)).rejects.toThrow('killed')
    await stop(stage.run.id)
    await expect(stage.startPayer().buy(stage.purchase)).rejects.toMatchObject(stopped)
    // The order may come after the process has looked for one.
    const blind = { maySend: async () => 'sent' as const }
    await expect(stage.startPayer(blind).buy(stage.purchase)).rejects.toMatchObject(stopped)
    expect(await stage.charges()).toMatchObject([{ state: 'journaled', sends: 0 }])
    expect(stage.requests).toHaveLength(1)
    await resume(stage.run.id)
    stage.script(found())
    await stage.startPayer().buy(stage.purchase)
    expect(await stage.charges()).toMatchObject([{ state: 'settled', sends: 1 }])
  })

  test('that was sent without an answer is not sent again; where the chain says that it moved, its answer is asked for', async () => {
    const stage = await setStage(database.db)
    stage.script(challenge({ identifier: true }), plain(500))
    await expect(stage.startPayer().buy(stage.purchase)).rejects.toThrow(RetriableError)
    await stop(stage.run.id)
    await expect(stage.startPayer().buy(stage.purchase)).rejects.toMatchObject(stopped)
    expect(stage.requests).toHaveLength(2)
    stage.chain.fate = { kind: 'used', transaction }
    stage.script(found())
    await stage.startPayer().buy(stage.purchase)
    expect(stage.requests[2]).toEqual(stage.requests[1])
    expect(await stage.charges()).toMatchObject([{ state: 'settled', transaction }])
    expect(await stage.answer()).toMatchObject({ outcome: 'found' })
  })

  test('goes out when another run has asked for its lookup since', async () => {
    const stage = await setStage(database.db)
    stage.script(challenge())
    await expect(stage.startPayer({ markSent: killed }).buy(stage.purchase)).rejects.toThrow('killed')
    await stop(stage.run.id)
    const other = await runOf([unique()])
    await database.db
      .updateTable('lookups')
      .set({ run_id: other.id, state: 'waiting' })
      .where('key', '=', stage.key)
      .execute()
    stage.script(found())
    await stage.startPayer().buy({ ...stage.purchase, runId: other.id })
    expect(await stage.charges()).toMatchObject([{ state: 'settled', sends: 1 }])
  })
})
