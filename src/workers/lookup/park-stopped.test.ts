import { expect, test } from 'vitest'
import { OperationStoppedError } from '../../domain/errors.ts'
import { batchKey, lookupKey, type LookupKey } from '../../domain/keys.ts'
import { createParkStopped } from './park-stopped.ts'

const [one, two] = [lookupKey('contact.lookup', 'a@b.example'), lookupKey('contact.lookup', 'c@d.example')]
const batch = batchKey('b')

async function park(key: LookupKey, queryId: string | null = null) {
  const done: unknown[] = []
  const parkStopped = createParkStopped({
    lookups: {
      park: async (each, due, { code, reason }) => void done.push(['park', each, due, code, reason]),
      fail: async (each, reason) => void done.push(['fail', each, reason]),
    },
    batches: { members: async () => [{ key: one }, { key: two }] as never },
    advance: { advanceTasksPast: async (keys, reason) => void done.push(['past', keys, reason]) },
  })
  const error = new OperationStoppedError('operation_stopped', 'stopped')
  return { outcome: await parkStopped({ key, queryId } as never, error), done }
}

test('records that have something without it go on before a lookup is parked, and those that came since after it', async () => {
  expect(await park(one)).toEqual({
    outcome: undefined,
    done: [
      ['past', [one], 'stopped'],
      ['park', one, null, 'operation_stopped', 'stopped'],
      ['past', [one], 'stopped'],
    ],
  })
})

test('a batch is taken apart, and one that was paid for waits for its answer', async () => {
  expect(await park(batch)).toEqual({ outcome: 'ended', done: [['fail', batch, 'stopped']] })
  expect((await park(batch, 'query')).done).toEqual([
    ['past', [one, two], 'stopped'],
    ['park', batch, null, 'operation_stopped', 'stopped'],
    ['past', [one, two], 'stopped'],
  ])
})
