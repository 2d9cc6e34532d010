import { once } from 'node:events'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEmbeddedRedis } from './embedded-redis.ts'
import { createPressSignals, type PressWord } from './press-signals.ts'

let server: Awaited<ReturnType<typeof startEmbeddedRedis>>
beforeAll(async () => void (server = await startEmbeddedRedis()))
afterAll(() => server.stop())

type Heard = [PressWord, string, boolean]

/** A process, and what it hears. */
async function process(prefix = 'paydirt') {
  const redis = new Redis(server.url)
  const heard: Heard[] = []
  let onHeard = () => {}
  const signals = createPressSignals(redis, prefix)
  const end = signals.listen((...words) => {
    heard.push(words)
    onHeard()
  })
  await until(async () => Number((await redis.pubsub('NUMSUB', `${prefix}:presses`))[1]) > 0)
  return {
    ...signals,
    redis,
    heard,
    /** Resolves when it has heard so much. */
    hears: (count: number) =>
      new Promise<void>((resolve) => {
        onHeard = () => heard.length >= count && resolve()
        onHeard()
      }),
    async close() {
      end()
      redis.disconnect()
      await once(redis, 'end')
    },
  }
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo()));
}

test('a process hears of the presses of others, and of its own', async () => {
  const one = await process()
  const two = await process()
  const others = await process('another-house')
  await until(async () => Number((await one.redis.pubsub('NUMSUB', 'paydirt:presses'))[1]) === 2)
  one.tell('begun', 'a press')
  one.tell('ready', 'hubspot/companies')
  await two.hears(2)
  expect(two.heard).toEqual([
    ['begun', 'a press', false],
    ['ready', 'hubspot/companies', false],
  ])
  // Its own message, which comes back from Redis, is not heard a second time.
  two.tell('ended', 'a press')
  await one.hears(3)
  expect(one.heard).toEqual([
    ['begun', 'a press', true],
    ['ready', 'hubspot/companies', true],
    ['ended', 'a press', false],
  ])
  expect(others.heard).toEqual([])
  for (const each of [one, two, others]) await each.close()
})

test('a message that no process of ours has sent is not heard, and nothing fails without Redis', async () => {
  const one = await process('strangers')
  await one.redis.publish('strangers:presses', 'somebody shouts loudly')
  await one.redis.publish('strangers:presses', '')
  const two = await process('strangers')
  two.tell('wanted', '')
  await one.hears(1)
  expect(one.heard).toEqual([['wanted', '', false]])
  await one.close()
  one.tell('ready', 'hubspot/companies')
  await two.close()

  const alone = createPressSignals(undefined, 'paydirt')
  const heard: Heard[] = []
  const end = alone.listen((...words) => heard.push(words))
  alone.tell('wanted', '')
  end()
  alone.tell('wanted', '')
  expect(heard).toEqual([['wanted', '', true]])
})

test('a claim is known to every process of its house, and ends by itself', async () => {
  const [one, two, others] = [await process('claims'), await process('claims'), await process('unclaimed')]
  expect(await two.isClaimed()).toBe(false)
  await one.claim(60_000)
  expect([await one.isClaimed(), await two.isClaimed(), await others.isClaimed()]).toEqual([
    true,
    true,
    false,
  ])
  await two.claim(1)
  await until(async () => !(await one.isClaimed()))
  for (const each of [one, two, others]) await each.close()
  const alone = createPressSignals(undefined, 'claims')
  await alone.claim(60_000)
  expect(await alone.isClaimed()).toBe(false)
})
