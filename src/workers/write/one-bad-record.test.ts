import { expect, test } from 'vitest'
import type { Connector, RecordPatch } from '../../connectors/connector.ts'
import type { ReadyTask, TaskResult } from '../../store/runs/ready-tasks.ts'
import { createWake } from '../../timing/wake.ts'
import { createWriteBack } from './write-back.ts'

const task = (id: bigint): ReadyTask => ({
  id,
  runId: 'r',
  recordId: `${id}`,
  identity: {},
  steps: [],
  patch: { name: { set: 'Acme' } },
  reason: null,
})

/** A source that breaks on one record, with an error that no code expects. */
function source(records: number, break_: (ids: readonly string[]) => void) {
  const ready = new Map(Array.from({ length: records }, (_, at) => [BigInt(at + 1), task(BigInt(at + 1))]))
  const results: TaskResult[] = []
  const failures: object[] = []
  const clock = { ms: 0 }
  const connector = {
    name: 'csv',
    capabilities: { keepsValues: false },
    entities: { company: 'company' },
    writesAtOnce: 100,
    read: async (_: string, ids: readonly string[]) =>
      new Map(ids.map((id) => [id, { state: 'present', values: {} }])),
    write: async (_: string, patches: readonly RecordPatch[]) => {
      break_(patches.map(({ id }) => id))
      return patches.map(({ id }) => ({ id, status: 'written' }))
    },
  }
  const writeBack = createWriteBack({
    tasks: {
      readyState: async () => ({ count: ready.size, since: new Date(0), hot: 0, moreToCome: false }),
      ready: async (_connector, _entity, { limit }) => [...ready.values()].slice(0, limit),
      async finish(done: readonly TaskResult[]) {
        results.push(...done)
        for (const { id } of done) ready.delete(id)
      },
    },
    fieldWrites: undefined as never,
    connector: () => connector as unknown as Connector,
    rule: () => 'fill_blank',
    formOf: undefined as never,
    suppressed: async () => new Set(),
    batchSize: 2_000,
    now: () => new Date(),
    nowMs: () => clock.ms,
    pressReady: createWake(),
    onGathering: () => {},
    onHalt: (error) => {
      throw error
    },
    onLongWait: () => {},
    onUnexpected: (failure) => void failures.push(failure),
  })
  return {
    results,
    failures,
    ready,
    write: () => writeBack({ connector: 'csv', entity: 'company' }),
    /** The time after which the job comes again. */
    pass: (ms: number) => void (clock.ms += ms),
  }
}

test('the others of its batch are written, and it is rejected with its reason after three tries', async () => {
  const { results, failures, ready, write, pass } = source(100, (ids) => {
    if (ids.includes('37')) throw new RangeError('Maximum call stack size exceeded')
  })
  expect(await write()).toEqual({ againInMs: 2_000 })
  expect(results).toHaveLength(99)
  expect([...ready.keys()]).toEqual([37n])
  expect(failures.length).toBeGreaterThan(0)
  expect(failures[0]).toMatchObject({
    connector: 'csv',
    records: 100,
    problem: expect.stringMatching(/^RangeError at /),
  })

  pass(2_000)
  expect(await write()).toEqual({ againInMs: 2_000 })
  pass(2_000)
  expect(await write()).toBeUndefined()
  expect(ready.size).toBe(0)
  expect(results.at(-1)).toMatchObject({
    id: 37n,
    status: 'rejected',
    reason: expect.stringContaining('unexpected error: RangeError'),
  })
})

test('a database that is away rejects nothing', async () => {
  const { results, failures, write } = source(4, () => {
    throw Object.assign(new Error('away'), { code: 'ECONNRESET' })
  })
  for (let turn = 0; turn < 4; turn++) await expect(write()).rejects.toThrow('away')
  expect(results).toEqual([])
  expect(failures).toEqual([])
})
