import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import type { RedisClient } from './redis-client.ts'

/**
 * The words about presses that processes tell each other, so that none waits for its next look at the ledger. They are hints:
 * each may be lost, or come twice.
 *
 * - `begun` and `ended`: a process works the lookup of a press; others give way to it meanwhile.
 * - `ready`: a press of this connector and entity can be written.
 * - `wanted`: a press needs a further lookup.
 */
export type PressWord = 'begun' | 'ended' | 'ready' | 'wanted'

/** `isOwn`: this process told it. */
export type Hear = (word: PressWord, name: string, isOwn: boolean) => void

export interface PressSignals {
  /** Says for so long that a process without other work takes the presses out of the queue; busier ones leave them to it. */
  claim(forMs: number): Promise<void>
  isClaimed(): Promise<boolean>
  /** Never throws: who is not told looks by itself, some times a second. */
  tell(word: PressWord, name: string): void
  /** Calls `hear` with what is told in any process, also in this one. Returns the function that ends it. */
  listen(hear: Hear): () => void
}

const words: readonly string[] = ['begun', 'ended', 'ready', 'wanted'] satisfies PressWord[]

/** `redis`: undefined where this process is the only one. */
export function createPressSignals(redis: RedisClient | undefined, prefix: string): PressSignals {
  const channel = `${prefix}:presses`
  const claimKey = `${channel}:claimed`
  const me = randomUUID()
  const listeners = new Set<Hear>()

  function hearOf(message: string): void {
    const [from, word = '', ...name] = message.split(' ')
    if (from === me || !words.includes(word)) return
    for (const hear of listeners) hear(word as PressWord, name.join(' '), false)
  }

  return {
    async claim(forMs) {
      await redis?.set(claimKey, '1', 'PX', forMs)
    },

    isClaimed: async () => redis !== undefined && (await redis.exists(claimKey)) === 1,

    tell(word, name) {
      for (const hear of listeners) hear(word, name, true)
      redis?.publish(channel, `${me} ${word} ${name}`).catch(() => {})
    },

    listen(hear) {
      listeners.add(hear)
      if (!redis) return () => void listeners.delete(hear)
      // A connection that listens can do nothing else.
      const subscriber = redis instanceof Redis ? redis.duplicate() : redis.duplicate()
      subscriber.on('error', () => {})
      subscriber.on('message', (_: string, message: string) => hearOf(message))
      // A user of Redis may have no right to channels. The polls remain.
      subscriber.subscribe(channel).catch(() => {})
      return () => {
        listeners.delete(hear)
        subscriber.disconnect()
      }
    },
  }
}
