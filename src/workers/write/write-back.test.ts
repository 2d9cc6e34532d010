import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { testSeed } from '../../../test/support/seed.ts'
import type { Connector, RecordPatch } from '../../connectors/connector.ts'
import type { ReadyTask, TaskResult } from '../../store/runs/ready-tasks.ts'
import { goFirst, waitOutside } from '../../store/database/go-first.ts'
import { createWake } from '../../timing/wake.ts'
import { createWriteBack } from './write-back.ts'

interface Setting {
  tasks?: { hot?: number; background?: number }
  limits?: Pick<Connector, 'writesAtOnce' | 'recordsPerWrite' | 'mostGatherMs'>
  /** The time the background tasks have been ready. */
  oldestMs?: number
  moreToCome?: boolean
}

/** A source without history. `sent` has the records of each request. */
function source({ tasks = {}, limits = {}, oldestMs = 0, moreToCome = false }: Setting) {
  const sent: string[][] = []
  const waits: number[] = []
  const hot = new Set<bigint>()
  let made = 0
  const ready = new Map<bigint, ReadyTask>()
  const state = { moreToCome, sinceMs: -oldestMs }
  const hold = {
    write: async (_ids: readonly string[]): Promise<number | undefined> => undefined,
    /** Before the ledger has the outcomes. */
    store: async (_ids: readonly string[]): Promise<void> => {},
    count: async (): Promise<void> => {},
  }
  /** The records between the read by which their write is decided and the stored outcome, and those read again meanwhile. */
  const open = new Set<string>()
  const overlaps: string[] = []
  const clock = { ms: 0, stepMs: 0 }
  const pressReady = createWake()
  function add(count: number, { isHot, recordId }: { isHot: boolean; recordId?: string }): void {
    for (let at = 0; at < count; at++) {
      made += 1
      const id = BigInt(made)
      if (isHot) hot.add(id)
      const patch = { name: { set: 'Acme' } }
      ready.set(id, {
        id,
        runId: 'r',
        recordId: recordId ?? `${id}`,
        identity: {},
        steps: [],
        patch,
        reason: null,
      })
    }
  }
  add(tasks.background ?? 0, { isHot: false })
  add(tasks.hot ?? 0, { isHot: true })
  const connector = {
    name: 'csv',
    capabilities: { keepsValues: false },
    entities: { company: 'company' },
    ...limits,
    async read(_: string, ids: readonly string[]) {
      overlaps.push(...ids.filter((id) => open.has(id)))
      for (const id of ids) open.add(id)
      return new Map(ids.map((id) => [id, { state: 'present', values: {} }]))
    },
    write: async (_: string, patches: readonly RecordPatch[]) => {
      sent.push(patches.map(({ id }) => id))
      const afterMs = await hold.write(patches.map(({ id }) => id))
      if (afterMs !== undefined) for (const { id } of patches) open.delete(id)
      return patches.map(({ id }) =>
        afterMs === undefined
          ? { id, status: 'written' }
          : { id, status: 'retry', afterMs, reason: 'the CRM is away' },
      )
    },
  }
  const of = (isHot: boolean) => [...ready.values()].filter(({ id }) => hot.has(id) === isHot)
  const writeBack = createWriteBack({
    tasks: {
      async readyState() {
        await hold.count()
        return {
          count: of(false).length,
          since: new Date(state.sinceMs),
          hot: of(true).length,
          moreToCome: state.moreToCome,
        }
      },
      ready: async (_connector, _entity, wanted) => of(wanted.hot).slice(0, wanted.limit),
      async finish(results: readonly TaskResult[]) {
        await hold.store(results.map(({ id }) => ready.get(id)?.recordId ?? ''))
        for (const { id } of results) {
          open.delete(ready.get(id)?.recordId ?? '')
          ready.delete(id)
        }
      },
    },
    fieldWrites: undefined as never,
    connector: () => connector as unknown as Connector,
    rule: () => 'fill_blank',
    formOf: undefined as never,
    suppressed: async () => new Set(),
    batchSize: 2_000,
    gatherMs: 5_000,
    now: () => new Date(0),
    nowMs: () => (clock.ms += clock.stepMs),
    pressReady,
    onGathering: (_, ms) => void waits.push(ms),
    onHalt: (error) => {
      throw error
    },
    onLongWait: () => {},
    onUnexpected: () => {},
  })
  return {
    sizes: () => sent.map(({ length }) => length),
    sent,
    waits,
    state,
    hold,
    add,
    left: ready,
    open,
    overlaps,
    clock,
    press(recordId: string) {
      add(1, { isHot: true, recordId })
      pressReady.wake('csv/company')
    },
    write: () => writeBack({ connector: 'csv', entity: 'company' }),
  }
}

const hubspot = { writesAtOnce: 100, recordsPerWrite: 100 }
const salesforce = { writesAtOnce: 4_000, recordsPerWrite: 200 }

test('the end of a night is written at once, in whole batches', async () => {
  const { sizes, left, waits, write } = source({ tasks: { background: 250 }, limits: hubspot })
  await write()
  expect(sizes()).toEqual([100, 100, 50])
  expect(left.size).toBe(0)
  expect(waits).toEqual([])
})

test('while others are to come, full batches are written and the rest waits for a few seconds', async () => {
  const night = source({ tasks: { background: 250 }, limits: hubspot, oldestMs: 200, moreToCome: true })
  await night.write()
  expect(night.sizes()).toEqual([100, 100])
  expect(night.waits).toEqual([5_000])
  night.state.moreToCome = false
  await night.write()
  expect(night.sizes()).toEqual([100, 100, 50])
})

test('what has waited long enough is written in full requests', async () => {
  const night = source({ tasks: { background: 259 }, limits: salesforce, oldestMs: 5_000, moreToCome: true })
  await night.write()
  expect(night.sizes()).toEqual([200])
  expect(night.waits).toEqual([5_000])
})

test('a source may have its records gathered for a shorter time, and all of them are written then', async () => {
  const file = { recordsPerWrite: 1, mostGatherMs: 1_000 }
  const run = source({ tasks: { background: 7 }, limits: file, oldestMs: 400, moreToCome: true })
  await run.write()
  expect(run.sizes()).toEqual([])
  expect(run.waits).toEqual([600])
  const later = source({ tasks: { background: 7 }, limits: file, oldestMs: 1_000, moreToCome: true })
  await later.write()
  expect(later.sizes()).toEqual([7])
})

test('records that a person waits for are written at once and before the others', async () => {
  const night = source({ tasks: { hot: 3, background: 60 }, limits: hubspot, moreToCome: true })
  await night.write()
  expect(night.sizes()).toEqual([3])
  expect(night.sent[0]).toEqual(['61', '62', '63'])
  expect(night.waits).toEqual([5_000])
})

test('a press is written while a batch is being written, unless its record is in that batch', async () => {
  const night = source({ tasks: { background: 40 } })
  let press: () => void = () => {}
  const pressed = new Promise<void>((resolve) => (press = resolve))
  night.hold.write = async () => {
    if (night.sent.length > 1) return void press()
    night.add(1, { isHot: true, recordId: '7' })
    night.add(1, { isHot: true, recordId: 'pressed' })
    await pressed
    return undefined
  }
  await night.write()
  expect(night.sizes()).toEqual([40, 1, 1])
  expect(night.sent.slice(1)).toEqual([['pressed'], ['7']])
  expect(night.left.size).toBe(0)
})

test('a press is written while the outcomes of a batch are being stored, unless its record is in that batch', async () => {
  const night = source({ tasks: { background: 40 } })
  const written = Promise.withResolvers<void>()
  night.hold.store = async (ids) => {
    if (ids.includes('pressed')) return written.resolve()
    if (ids.length < 40) return
    night.press('7')
    night.press('pressed')
    await written.promise
  }
  await night.write()
  expect(night.sizes()).toEqual([40, 1, 1])
  expect(night.sent.slice(1)).toEqual([['pressed'], ['7']])
  expect(night.overlaps).toEqual([])
})

test('a batch begins when no press is at work, and one that is ready meanwhile is written', async () => {
  const night = source({ tasks: { background: 40 } })
  const [answered, written] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  night.hold.store = async (ids) => void (ids.includes('pressed') && written.resolve())
  const asking = goFirst(() => waitOutside(() => answered.promise))
  const writing = night.write()
  night.press('pressed')
  await written.promise
  await setImmediate()
  expect(night.sent).toEqual([['pressed']])
  answered.resolve()
  await Promise.all([asking, writing])
  expect(night.sizes()).toEqual([1, 40])
})

test('a press waits for no count of what is ready, neither before it nor under way', async () => {
  const night = source({})
  const written = Promise.withResolvers<void>()
  night.hold.write = async (ids) => void (ids.includes('second') && written.resolve())
  night.press('first')
  night.hold.count = async () => {
    if (night.sent.length === 1) night.press('second')
    await written.promise
  }
  await night.write()
  expect(night.sent).toEqual([['first'], ['second']])
})

test('a batch that waits to be tried again lets a press through, and is not tried before its time', async () => {
  const night = source({ tasks: { background: 4 } })
  night.hold.write = async () => (night.sent.length === 1 ? 30_000 : undefined)
  expect(await night.write()).toEqual({ againInMs: 30_000 })
  night.clock.ms = 10_000
  night.press('pressed')
  expect(await night.write()).toEqual({ againInMs: 20_000 })
  expect(night.sent.slice(1)).toEqual([['pressed']])
  night.clock.ms = 30_000
  expect(await night.write()).toBeUndefined()
  expect(night.sizes()).toEqual([4, 1, 4])
})

test('of two writes of a record the second begins after the outcome of the first is stored, whoever writes', async () => {
  const drawn = fc.sample(fc.noBias(fc.nat(999_999)), { seed: testSeed(), numRuns: 20_000 })
  let draws = 0
  const below = (limit: number) => (drawn[draws++ % drawn.length] as number) % limit
  let [beside, besideStoring, isStoring] = [0, 0, false]
  for (let round = 0; round < 40; round += 1) {
    const night = source({ limits: { writesAtOnce: 5, recordsPerWrite: 5 } })
    // Presses get their next turn.
    night.clock.stepMs = 1_000
    // Few records, so that both writers want the same ones again and again.
    const more = () => {
      if (night.sent.length > 40) return
      for (let n = below(4); n > 0; n -= 1) night.add(1, { isHot: false, recordId: `${below(8)}` })
      // Presses that follow from presses would leave no batch.
      if (below(5) === 0) night.press(`${below(8)}`)
    }
    night.hold.write = async (ids) => {
      if (night.open.size > ids.length) beside += 1
      if (isStoring) besideStoring += 1
      for (let turns = below(8); turns > 0; turns -= 1) {
        more()
        await setImmediate()
      }
      return undefined
    }
    night.hold.store = async (ids) => {
      if (ids.length === 1) return
      isStoring = true
      for (let turns = below(8); turns > 0; turns -= 1) {
        more()
        await setImmediate()
      }
      isStoring = false
    }
    for (let tries = 0; tries < 10; tries += 1) more()
    while (night.left.size > 0) await night.write()
    expect(night.overlaps).toEqual([])
    expect(night.sent.length).toBeGreaterThan(10)
  }
  expect(beside).toBeGreaterThan(10)
  expect(besideStoring).toBeGreaterThan(10)
})
