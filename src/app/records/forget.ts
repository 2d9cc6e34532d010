import type { LookupKey } from '../../domain/keys.ts'
import type { Identifier } from '../../domain/subjects/identifiers.ts'
import { openRedis } from '../../queues/connection.ts'
import { createQueues } from '../../queues/queues.ts'
import { eraseSubject, vacuumErased, type Erased } from '../../store/subjects/erase-subject.ts'
import { findSubject } from '../../store/subjects/find-subject.ts'
import type { Context } from '../context/context.ts'

export interface Forgotten {
  erased: Erased & { jobs: number }
  /** New entries of the suppression list. */
  suppressed: number
}

/**
 * Erases a subject in tables, plans and queue, and prevents further lookups. The amounts, times and nonces of payments stay,
 * without a name.
 */
export async function forget(
  context: Pick<Context, 'database' | 'suppressions' | 'config' | 'now' | 'randomBytes'>,
  identifiers: readonly Identifier[],
  options: { suppress: boolean },
): Promise<Forgotten> {
  const { database, suppressions, now } = context
  const subject = await findSubject(database.db, identifiers, context.config.networkHosts)
  // Suppressed first, erased second: a sync that runs at this moment must not buy the subject again.
  const suppressed = options.suppress ? await suppressions.add(subject.identifiers) : 0
  const erased = await eraseSubject(database.db, subject, {
    now,
    token: () => context.randomBytes(12).toString('hex'),
  })
  const jobs = await dropJobs(context, subject.lookups)
  await vacuumErased(database)
  return { erased: { ...erased, jobs }, suppressed }
}

/** Jobs in the embedded Redis ended with their process. */
async function dropJobs({ config }: Pick<Context, 'config'>, keys: readonly LookupKey[]): Promise<number> {
  if (config.redisUrl === undefined || keys.length === 0) return 0
  const redis = await openRedis(config.redisUrl)
  const queues = createQueues(redis.redis, { prefix: config.redisPrefix, onError: () => {} })
  try {
    return await queues.dropLookups(keys)
  } finally {
    await queues.close()
    await redis.close()
  }
}
