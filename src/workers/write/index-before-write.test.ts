import { expect, test } from 'vitest'
import type { Connector, Later } from '../../connectors/connector.ts'
import type { ReadyTask } from '../../store/runs/ready-tasks.ts'
import { createWriteBatch } from './write-batch.ts'

const task: ReadyTask = {
  id: 1n,
  runId: 'r',
  recordId: '1',
  identity: {},
  steps: [],
  patch: { name: { set: 'Acme' } },
  reason: null,
}

/** Writes one record and returns what was done, in its order. `learn` is what a read leaves for later. */
async function write(learn: () => Promise<void>, values: Record<string, string> = {}): Promise<string[]> {
  const done: string[] = []
  const connector = {
    name: 'csv',
    capabilities: { keepsValues: false },
    entities: { company: 'company' },
    async read(_entity: string, ids: readonly string[], later: Later) {
      later(async () => {
        await new Promise((resolve) => setImmediate(resolve))
        done.push('learned')
        await learn()
      })
      done.push('read')
      return new Map(ids.map((id) => [id, { state: 'present', values }]))
    },
    async write(_entity: string, patches: readonly { id: string }[]) {
      done.push('written')
      return patches.map(({ id }) => ({ id, status: 'written' }))
    },
  } as unknown as Connector
  const batch = createWriteBatch({
    fieldWrites: undefined as never,
    rule: () => 'fill_blank',
    formOf: undefined as never,
    suppressed: async () => new Set(),
  })
  await batch(connector, 'company', [task]).catch((error: Error) => done.push(error.message))
  return done
}

test('the index learns from a record as it was read before it is written, also where nothing is', async () => {
  expect(await write(async () => {})).toEqual(['read', 'learned', 'written'])
  expect(await write(async () => {}, { name: 'Another' })).toEqual(['read', 'learned'])
})

test('a record is not written where the index could not learn', async () => {
  expect(await write(() => Promise.reject(new Error('no room')))).toEqual(['read', 'learned', 'no room'])
})
