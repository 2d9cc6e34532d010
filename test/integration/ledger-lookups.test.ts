import { describe, expect, test } from 'vitest'
import type { LookupKey } from '../../src/domain/keys.ts'
import { scannedTask } from '../support/scanned-task.ts'
import { clock, found, newRun, useLedger } from './ledger.fixture.ts'

useLedger()

const cap = { code: 'budget_run', reason: 'a cap' }

describe('lookups that are asked for', () => {
  test('stay as they are while their answer is fresh, and are due again when it is not', async () => {
    const one = await newRun(2)
    await one.lookups.storeFree(one.keys[0]!, { ...found, freshUntil: new Date('2026-06-01') })
    await one.lookups.fail(one.keys[1]!, 'broken')
    const two = await newRun(0)
    await two.lookups.want([...one.wanted, ...one.wanted], {
      id: two.run.id,
      connector: two.connector,
      hot: false,
    })
    expect(await two.lookups.get(one.keys[0]!)).toMatchObject({ state: 'answered', runId: one.run.id })
    expect(await two.lookups.get(one.keys[1]!)).toMatchObject({
      state: 'waiting',
      runId: two.run.id,
      tries: 0,
    })

    clock.now = new Date('2026-06-01')
    await two.lookups.want(one.wanted, { id: two.run.id, connector: two.connector, hot: false })
    expect(await two.lookups.get(one.keys[0]!)).toMatchObject({ state: 'waiting', runId: two.run.id })
  })

  test('are told apart as due: those that the ledger did not have before, and the others', async () => {
    const one = await newRun(2)
    const two = await newRun(0)
    const [first] = one.wanted
    const fresh = { ...first!, key: `${first!.key}-fresh` as LookupKey }
    const told: [keys: LookupKey[], isNew: LookupKey[]][] = []
    const run = { id: two.run.id, connector: two.connector, hot: true }
    for (let time = 0; time < 2; time += 1)
      await two.lookups.want([first!, fresh], run, (keys, isNew) => void told.push([keys, [...isNew]]))
    const both = [first!.key, fresh.key].toSorted()
    expect(told).toEqual([
      [both, [fresh.key]],
      [both, []],
    ])
  })

  test('are leased to one asker at a time, of its own run alone, and again when the lease is over', async () => {
    const { lookups, run, keys } = await newRun(5)
    const other = await newRun(1)
    const owner = { runId: run.id }
    const [one, two] = await Promise.all([
      lookups.lease(3, 60_000, false, owner),
      lookups.lease(3, 60_000, false, owner),
    ])
    expect([...one, ...two].sort()).toEqual([...keys].sort())
    expect(await lookups.lease(10, 60_000, false, owner)).toEqual([])
    expect(await lookups.lease(10, 60_000, true, { connectors: [other.connector] })).toEqual([])
    expect(await lookups.lease(10, 60_000, false, { connectors: [other.connector] })).toEqual(other.keys)
    clock.now = new Date(clock.now.getTime() + 60_000)
    expect(await lookups.lease(10, 60_000, false, owner)).toHaveLength(5)
  })

  test('of a run at a spent limit are parked together: those that cost as much, wait, and have no charge', async () => {
    const { lookups, tasks, run, keys, reserve, id, db, journal } = await newRun(7)
    const other = await newRun(1)
    const scope = `run:${id}`
    const task = (key: LookupKey, index: number) => scannedTask(index + 1, key)
    // The last one's task is not stored yet.
    await tasks.insertPage(run.id, keys.slice(0, 6).map(task), 'w1')
    await other.tasks.insertPage(other.run.id, other.keys.map(task), 'w1')
    const budget = [{ scope, capAtomic: 20_000n }]
    const [paid, open, refused] = keys as [LookupKey, LookupKey, LookupKey]
    const first = await reserve(paid, budget)
    const second = await reserve(open, budget)
    const error = await reserve(refused, budget).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ details: { scope, cap: '20000', amount: '10000' } })
    const slots = ['company.profile'] as const
    const parkRest = (which: typeof slots | readonly []) =>
      lookups.parkRest(refused, null, cap, {
        slots: which,
        budget: { scope, capAtomic: 20_000n, amountAtomic: 10_000n },
      })
    // Either of the two may be withdrawn, and then there is room.
    expect(await parkRest(slots)).toBe(0)
    expect(await journal.withdraw(second.id)).toBe(true)
    await reserve(open, budget)
    await db.updateTable('charges').set({ state: 'settled' }).where('run_id', '=', run.id).execute()
    await db.updateTable('charges').set({ state: 'sent' }).where('id', '=', first.id).execute()
    expect(await parkRest(slots)).toBe(0)
    await db.updateTable('charges').set({ state: 'settled' }).where('id', '=', first.id).execute()
    expect(await parkRest([])).toBe(0)
    await lookups.park(refused, null, cap)
    await lookups.storeFree(paid, found)
    await lookups.storeFree(open, found)
    expect(await parkRest(slots)).toBe(3)
    expect(await parkRest(slots)).toBe(0)
    expect(await tasks.counts(run.id)).toMatchObject({ parked: 4, looking_up: 2 })
    expect(await lookups.get(keys[6]!)).toMatchObject({ state: 'waiting' })
    expect(await other.lookups.get(other.keys[0]!)).toMatchObject({ state: 'waiting' })
    expect(await lookups.unpark(run.id)).toBe(4)
    expect(await tasks.counts(run.id)).toMatchObject({ parked: 0, looking_up: 6 })
  })

  test('that are parked take their tasks along, there and back', async () => {
    const { lookups, tasks, runs, run, keys } = await newRun(2)
    await tasks.insertPage(
      run.id,
      [scannedTask(1, keys[0]!), scannedTask(2, keys[1]!), scannedTask(3, keys[0]!, { duplicateOf: 1 })],
      'w1',
    )
    // A page counts whole or not at all: one that holds a row twice leaves neither rows nor a watermark.
    await expect(
      tasks.insertPage(run.id, [scannedTask(4, keys[1]!), scannedTask(1, keys[1]!)], 'w2'),
    ).rejects.toThrow(/another process reads/)
    expect(await runs.get(run.id)).toMatchObject({ records: 3, watermark: 'w1' })
    await lookups.park(keys[0]!, new Date(clock.now.getTime() + 1000), cap)
    expect(await tasks.counts(run.id)).toMatchObject({ looking_up: 1, parked: 2 })
    expect(await tasks.reasons(run.id)).toEqual([
      { status: 'parked', reason: 'a cap', count: 2, first: expect.any(String) },
    ])
    expect(await lookups.lease(5, 60_000, false, { runId: run.id })).toEqual([keys[1]])

    // A cause of another name that went away frees nothing.
    expect(await lookups.unparkBy(['wallet_empty'])).toBe(0)
    // After a person acted the run is open again at once, not when a worker comes by.
    expect(await lookups.unpark(run.id)).toBe(1)
    expect(await tasks.counts(run.id)).toMatchObject({ looking_up: 3, parked: 0 })
    expect(await lookups.get(keys[0]!)).toMatchObject({ state: 'waiting' })

    await lookups.park(keys[0]!, new Date(clock.now.getTime() + 1000), cap)
    clock.now = new Date(clock.now.getTime() + 1000)
    expect(await lookups.lease(5, 60_000, false, { runId: run.id })).toEqual([keys[0]])
    expect(await tasks.counts(run.id)).toMatchObject({ looking_up: 3, parked: 0 })
  })

  test('that have ended while nobody looked are found page by page, until their tasks have gone on', async () => {
    const { lookups, tasks, run, keys } = await newRun(3)
    const [first, second, third] = keys.toSorted() as [LookupKey, LookupKey, LookupKey]
    await tasks.insertPage(
      run.id,
      [first, second, second, third].map((key, index) => scannedTask(index + 1, key)),
      'w1',
    )
    await lookups.storeFree(second, found)
    await lookups.fail(third, 'for good')
    const before = first.slice(0, -1)
    expect(await tasks.overlooked(before, 2)).toEqual({ ended: [second], late: [], next: second })
    expect((await tasks.overlooked(second, 1_000)).ended[0]).toBe(third)
    expect((await tasks.overlooked(second, 1_000)).next).toBeUndefined()
    const moves = (await tasks.waitingFor([second, third], 9)).map(({ id }) => ({
      id,
      status: 'ready' as const,
      waitingFor: null,
      steps: [],
      patch: {},
      reason: null,
    }))
    expect(moves).toHaveLength(3)
    await tasks.move(moves)
    expect((await tasks.overlooked(before, 1_000)).ended).not.toContain(second)
    expect(await tasks.readyGroups()).toContainEqual({ connector: run.connector, entity: 'company' })
  })

  test('park a task that came to wait for one in the moment in which it was parked', async () => {
    const { lookups, tasks, run, keys, db } = await newRun(3)
    const [first, second, third] = keys.toSorted() as [LookupKey, LookupKey, LookupKey]
    await lookups.park(first, null, cap)
    await lookups.park(second, null, cap)
    const isStopped = { code: 'operation_stopped', reason: 'it is stopped' }
    await db.updateTable('lookups').set(isStopped).where('key', '=', second).execute()
    await lookups.park(third, new Date(clock.now.getTime() + 1000), cap)
    // Their tasks were planned before that, and are stored after it.
    await tasks.insertPage(
      run.id,
      [first, second, third].map((key, index) => scannedTask(index + 1, key)),
      'w1',
    )
    const before = first.slice(0, -1)
    const { late } = await tasks.overlooked(before, 1_000)
    expect(late).toEqual([
      { key: first, isStopped: false, reason: 'a cap' },
      { key: second, isStopped: true, reason: 'it is stopped' },
      { key: third, isStopped: false, reason: 'a cap' },
    ])
    await tasks.parkLate(late.map(({ key }) => key))
    expect(await tasks.counts(run.id)).toMatchObject({ looking_up: 0, parked: 3 })
    expect((await tasks.overlooked(before, 1_000)).late).toEqual([])
    // The order to go on finds them as it finds the others.
    clock.now = new Date(clock.now.getTime() + 1000)
    expect(await lookups.lease(5, 60_000, false, { runId: run.id })).toEqual([third])
    expect(await lookups.unpark(run.id)).toBe(2)
    expect(await tasks.counts(run.id)).toMatchObject({ looking_up: 3, parked: 0 })
  })

  test('that one run has parked go on under the run that asks for them next', async () => {
    const one = await newRun(1)
    await one.lookups.park(one.keys[0]!, null, cap)
    const two = await newRun(0)
    await two.lookups.want(one.wanted, { id: two.run.id, connector: two.connector, hot: false })
    expect(await two.lookups.lease(5, 1000, false, { runId: one.run.id })).toEqual([])
    expect(await two.lookups.lease(5, 1000, false, { runId: two.run.id })).toEqual(one.keys)
  })

  test('are answered or failed once: what comes later does not move them', async () => {
    const { lookups, keys } = await newRun(1)
    await lookups.storeFree(keys[0]!, found)
    await lookups.postpone(keys[0]!, clock.now, 'late', true)
    await lookups.park(keys[0]!, null, cap)
    await lookups.fail(keys[0]!, 'late')
    expect(await lookups.get(keys[0]!)).toMatchObject({ state: 'answered', tries: 0 })
  })
})
