import { expect, test } from 'vitest'
import type { Connector, RecordPatch } from '../../connectors/connector.ts'
import type { ReadyTask, TaskResult } from '../../store/runs/ready-tasks.ts'
import { createWriteBack } from './write-back.ts'

interface Setting {
  tasks?: { hot?: number; background?: number }
  limits?: Pick<Connector, 'writesAtOnce' | 'recordsPerWrite'>
  /** The time the background tasks have been ready. */
  oldestMs?: number
  moreToCome?: boolean
}

/** A source without history. `sent` has the records of each request. */
function source({ tasks = {}, limits = {}, oldestMs = 0, moreToCome = false }: Setting) {
  const sent: string[][] = []
  const waits: number[] = []
  const hot = new Set<bigint>()
  const ready = new Map<bigint, ReadyTask>()
  const state = { moreToCome, sinceMs: -oldestMs }
  const hold = { write: async () => {} }
  function add(count: number, { isHot, recordId }: { isHot: boolean; recordId?: string }): void {
    for (let at = 0; at < count; at++) {
      const id = BigInt(ready.size + 1)
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
    read: async (_: string, ids: readonly string[]) =>
      new Map(ids.map((id) => [id, { state: 'present', values: {} }])),
    write: async (_: string, patches: readonly RecordPatch[]) => {
      sent.push(patches.map(({ id }) => id))
      await hold.write()
      return patches.map(({ id }) => ({ id, status: 'written' }))
    },
  }
  const of = (isHot: boolean) => [...ready.values()].filter(({ id }) => hot.has(id) === isHot)
  const writeBack = createWriteBack({
    tasks: {
      readyState: async () => ({
        count: of(false).length,
        since: new Date(state.sinceMs),
        hot: of(true).length,
        moreToCome: state.moreToCome,
      }),
      ready: async (_connector, _entity, wanted) => of(wanted.hot).slice(0, wanted.limit),
      finish: async (results: readonly TaskResult[]) => results.forEach(({ id }) => ready.delete(id)),
    },
    fieldWrites: undefined as never,
    connector: () => connector as unknown as Connector,
    rule: () => 'fill_blank',
    formOf: undefined as never,
    suppressed: async () => new Set(),
    batchSize: 2_000,
    gatherMs: 5_000,
    now: () => new Date(0),
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
    if (night.sent.length > 1) return press()
    night.add(1, { isHot: true, recordId: '7' })
    night.add(1, { isHot: true, recordId: 'pressed' })
    await pressed
  }
  await night.write()
  expect(night.sizes()).toEqual([40, 1, 1])
  expect(night.sent.slice(1)).toEqual([['pressed'], ['7']])
  expect(night.left.size).toBe(0)
})
