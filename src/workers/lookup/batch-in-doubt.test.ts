import { expect, test } from 'vitest'
import { batchKey } from '../../domain/keys.ts'
import { createLookUp } from './look-up.ts'

test('a batch that failed while its payment was in doubt is only finished', async () => {
  const bought: unknown[] = []
  const batch = batchKey('b')
  const lookUpBatch = (alone: boolean) =>
    createLookUp({
      lookups: {
        get: async () => ({
          state: 'waiting',
          request: {},
          tries: 0,
          key: batch,
          operation: 'contact.lookup',
          alone,
        }),
      },
      batches: { members: async () => [{ key: 'member' }] },
      probation: { guard: (_: unknown, to: { confirmed: () => Promise<void> }) => to.confirmed() },
      access: {
        watch: async (_: string, __: string, request: () => Promise<unknown>) => void (await request()),
      },
      prepareBulk: () => ({ decode: () => new Map() }),
      payer: { buy: async ({ onlyFinish }: { onlyFinish?: boolean }) => void bought.push(onlyFinish) },
      advance: { advanceTasksWaitingFor: async () => {} },
    } as unknown as Parameters<typeof createLookUp>[0])('background', batch, 1)
  await lookUpBatch(false)
  await lookUpBatch(true)
  expect(bought).toEqual([false, true])
})
