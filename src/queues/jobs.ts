import { hash } from 'node:crypto'
import { z } from 'zod'
import type { LookupKey } from '../domain/keys.ts'

const lookupKey = z.string().transform((key) => key as LookupKey)

/**
 * The schema of each queue's jobs. A job carries names, never data: the data is in SQL. `starts` counts how often a lookup was started
 * as part of a block, before it had a job of its own.
 */
export const lookupJob = z.object({ key: lookupKey, starts: z.number().int().min(0).default(0) })
/** A lookup that is taken out of a block leaves an empty text. */
export const blockJob = z.object({
  keys: z.array(lookupKey).transform((keys) => keys.filter((key) => key !== '')),
})
export const writeBackJob = z.object({ connector: z.string(), entity: z.string() })

export type WriteBackJob = z.infer<typeof writeBackJob>

/** `blocks` and `background` are one lane. */
export const queueNames = {
  background: 'lookup',
  blocks: 'lookup-block',
  hot: 'lookup-hot',
  writeBack: 'write-back',
} as const

/**
 * Returns the id of a lookup's job, so that a lookup has one job however often it is added. BullMQ refuses ids that are
 * integers or contain a colon, hence the letter and the hash.
 */
export function lookupJobId(key: LookupKey): string {
  return `k${hash('sha256', key, 'hex').slice(0, 32)}`
}
