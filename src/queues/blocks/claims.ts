import { randomBytes } from 'node:crypto'
import type { LookupKey } from '../../domain/keys.ts'
import { lookupJobId, queueNames } from '../jobs.ts'
import type { RedisClient } from '../redis-client.ts'
import { addScript, countScript, stepScript, takeScript } from './claim-scripts.ts'

/** Lookups that were claimed for one block, whose job has yet to be added. */
interface NewBlock {
  id: string
  keys: LookupKey[]
}

/** A worker's report of one block: the digests of lookups that have ended, and of those that it wants to begin. */
export interface BlockStep {
  id: string
  token: string
  ended: string[]
  begin: string[]
}

/** `gone` is in the block no more; `lost` says that the block has another worker, or none. */
type Begun = 'begun' | 'gone' | 'lost'

interface Place {
  /** `held` by a worker that has begun it; `waiting` in a block, from which `takeOut` has taken it. */
  inBlock: 'no' | 'waiting' | 'held'
  hasJob: boolean
}

/** Says which lookup is in which block, across processes; see docs/decisions/0057-blocks-of-lookups.md. */
export interface Claims {
  /** Claims lookups for new blocks of up to `size`. Leaves out those that a block or a job of their own has. */
  claim(keys: readonly LookupKey[], size: number): Promise<NewBlock[]>
  /** Returns those that neither a block nor a job of their own has. */
  free(keys: readonly LookupKey[]): Promise<LookupKey[]>
  /** Returns an answer for each lookup to begin, in their order. */
  step(steps: readonly BlockStep[]): Promise<Begun[]>
  /** Under a lock of `own`, what was begun is taken out too: a dead process had begun it. */
  takeOut(keys: readonly LookupKey[], own?: readonly string[]): Promise<Place[]>
  find(keys: readonly LookupKey[]): Promise<Place[]>
  count(): Promise<{ waiting: number; begun: number }>
}

/** Longer than any process waits between its claims and the jobs of their blocks. */
const staleSeconds = 60

type Script<Reply> = (claims: string, ...args: (string | number)[]) => Promise<Reply>
interface Scripted {
  paydirtClaimLookups: Script<string>
  paydirtStepBlocks: Script<string>
  paydirtTakeLookups: Script<string>
  paydirtCountClaims: Script<[waiting: number, begun: number]>
}

export function createClaims(redis: RedisClient, prefix: string): Claims {
  redis.defineCommand('paydirtClaimLookups', { numberOfKeys: 1, lua: addScript })
  redis.defineCommand('paydirtStepBlocks', { numberOfKeys: 1, lua: stepScript })
  redis.defineCommand('paydirtTakeLookups', { numberOfKeys: 1, lua: takeScript })
  redis.defineCommand('paydirtCountClaims', { numberOfKeys: 1, lua: countScript })
  const scripted = redis as unknown as Scripted
  const claims = `${prefix}:lookup-claims`
  const places = [`${prefix}:${queueNames.blocks}:`, `${prefix}:${queueNames.background}:`] as const

  async function look(
    keys: readonly LookupKey[],
    takes: boolean,
    own: readonly string[] = [],
  ): Promise<Place[]> {
    if (keys.length === 0) return []
    const named = keys.flatMap((key) => [lookupJobId(key), JSON.stringify(key)])
    const signs = await scripted.paydirtTakeLookups(claims, ...places, takes ? 1 : 0, own.join(' '), ...named)
    return keys.map((_, index) => ({
      inBlock: signs[2 * index] === 'h' ? 'held' : signs[2 * index] === '1' ? 'waiting' : 'no',
      hasJob: signs[2 * index + 1] === '1',
    }))
  }

  async function freeOf(keys: readonly LookupKey[], base: string, size: number): Promise<LookupKey[]> {
    if (keys.length === 0) return []
    const signs = await scripted.paydirtClaimLookups(claims, ...places, base, size, ...keys.map(lookupJobId))
    return keys.filter((_, index) => signs[index] === '1')
  }

  return {
    async claim(keys, size) {
      // The seconds tell how old a claim is whose block does not exist.
      const base = `b${Math.floor(Date.now() / 1000)}-${randomBytes(6).toString('hex')}`
      const free = await freeOf(keys, base, size)
      return Array.from({ length: Math.ceil(free.length / size) }, (_, index) => ({
        id: `${base}-${index}`,
        keys: free.slice(index * size, (index + 1) * size),
      }))
    },

    free: (keys) => freeOf(keys, '', 0),

    async step(steps) {
      const signs = await scripted.paydirtStepBlocks(
        claims,
        ...places,
        ...steps.flatMap(({ id, token, ended, begin }) => [
          id,
          token,
          ended.length,
          begin.length,
          ...ended,
          ...begin,
        ]),
      )
      return [...signs].map((sign) => (sign === '1' ? 'begun' : sign === '0' ? 'gone' : 'lost'))
    },

    takeOut: (keys, own) => look(keys, true, own),
    find: (keys) => look(keys, false),

    async count() {
      const [waiting, begun] = await scripted.paydirtCountClaims(claims, places[0], staleSeconds)
      return { waiting, begun }
    },
  }
}
