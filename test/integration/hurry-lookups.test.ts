import { expect, test } from 'vitest'
import type { LookupKey } from '../../src/domain/keys.ts'
import { openRedis } from '../../src/queues/connection.ts'
import { createQueues } from '../../src/queues/queues.ts'
import { freshStores } from '../support/stores.ts'

const keyOf = (name: string) => `company.profile|profnet.com/company/${name}` as LookupKey

test('a lookup that a press wants leaves the background lane, and no lane is asked for one that is new', async () => {
  const stores = await freshStores()
  const connection = await openRedis(stores.redisUrl)
  const queues = createQueues(connection.redis, { prefix: stores.redisPrefix, onError: () => {} })
  const counts = async () => [await queues.countLookups('background'), await queues.countLookups('hot')]
  try {
    const [waiting, fresh, other] = ['waiting', 'fresh', 'other'].map(keyOf) as [
      LookupKey,
      LookupKey,
      LookupKey,
    ]
    await queues.addLookups('background', [waiting, other])
    await queues.hurryLookups([waiting, fresh], new Set([fresh]))
    expect(await counts()).toEqual([1, 2])
    // The enqueuer may have been there in between: a lookup has one job in a lane.
    await queues.hurryLookups([fresh], new Set([fresh]))
    expect(await counts()).toEqual([1, 2])
    // Told that it is new, it stays where it was as well; the ledger's locks decide who works on it.
    await queues.hurryLookups([other], new Set([other]))
    expect(await counts()).toEqual([1, 3])
  } finally {
    await queues.close()
    await connection.close()
    await stores.cleanup()
  }
})
