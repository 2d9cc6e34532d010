import { hash } from 'node:crypto'
import { z } from 'zod'
import type { LookupKey } from '../domain/keys.ts'
import type { Lane } from '../domain/ports/send-permit.ts'

/** The schema of each queue's jobs. A job carries names, never data: the data is in SQL. */
export const lookupJob = z.object({ key: z.string().transform((key) => key as LookupKey) })
export const writeBackJob = z.object({ connector: z.string(), entity: z.string() })

export type WriteBackJob = z.infer<typeof writeBackJob>

export const queueNames = { background: 'lookup', hot: 'lookup-hot', writeBack: 'write-back' } as const

export function lookupQueueName(lane: Lane): string {
  return queueNames[lane]
}

/**
 * Returns the id of a lookup's job, so that a lookup has one job however often it is added. BullMQ refuses ids that are
 * integers or contain a colon, hence the letter and the hash.
 */
export function lookupJobId(key: LookupKey): string {
  return `k${hash('sha256', key, 'hex').slice(0, 32)}`
}
