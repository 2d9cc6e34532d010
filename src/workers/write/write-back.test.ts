import { expect, test } from 'vitest'
import type { Connector, RecordPatch } from '../../connectors/connector.ts'
import type { ReadyTask, TaskResult } from '../../store/runs/ready-tasks.ts'
import { createWriteBack } from './write-back.ts'

/** A source without history, with this many ready tasks, hot ones first. `sent` has the size of each request. */
function source(tasks: { hot: number; bulk: number }, writesAtOnce?: number) {
  const sent: number[] = []
  const ready = new Map(
    Array.from({ length: tasks.hot + tasks.bulk }, (_, index): [bigint, ReadyTask] => {
      const id = BigInt(index + 1)
      const patch = { name: { set: 'Acme' } }
      return [
        id,
        {
          id,
          runId: 'r',
          recordId: `${id}`,
          identity: {},
          steps: [],
          patch,
          reason: null,
          hot: index < tasks.hot,
        },
      ]
    }),
  )
  const connector = {
    name: 'csv',
    capabilities: { keepsValues: false },
    entities: { company: 'company' },
    ...(writesAtOnce === undefined ? {} : { writesAtOnce }),
    read: async (_: string, ids: readonly string[]) =>
      new Map(ids.map((id) => [id, { state: 'present', values: {} }])),
    write: async (_: string, patches: readonly RecordPatch[]) => {
      sent.push(patches.length)
      return patches.map(({ id }) => ({ id, status: 'written' }))
    },
  }
  const writeBack = createWriteBack({
    tasks: {
      ready: async (_connector, _entity, limit) => [...ready.values()].slice(0, limit),
      finish: async (results: readonly TaskResult[]) => results.forEach(({ id }) => ready.delete(id)),
    },
    fieldWrites: undefined as never,
    connector: () => connector as unknown as Connector,
    rule: () => 'fill_blank',
    formOf: undefined as never,
    suppressed: async () => new Set(),
    batchSize: 2_000,
    onHalt: (error) => {
      throw error
    },
    onLongWait: () => {},
    onUnexpected: () => {},
  })
  return { sent, left: ready, write: () => writeBack({ connector: 'csv', entity: 'company' }) }
}

test('a night is written in whole batches while no button is pressed', async () => {
  const { sent, left, write } = source({ hot: 0, bulk: 250 }, 100)
  await write()
  expect(sent).toEqual([100, 100, 50])
  expect(left.size).toBe(0)
})

test('after a press batches are a quarter as large, and the pressed records are written first', async () => {
  const { sent, left, write } = source({ hot: 90, bulk: 60 }, 100)
  await write()
  expect(sent).toEqual([90, 25, 25, 10])
  expect(left.size).toBe(0)
})

test('where large batches are cheaper they stay large', async () => {
  const { sent, left, write } = source({ hot: 1, bulk: 1_500 })
  await write()
  expect(sent).toEqual([1, 1_500])
  expect(left.size).toBe(0)
})
