import { sql, type Kysely } from 'kysely'
import type { Tables } from '../tables/schema.ts'
import { setTimeout as delay } from 'node:timers/promises'
import { ConfigError } from '../../../domain/errors.ts'
import type { OnStep } from '../../migrations/migration.ts'

/** Lock not available, statement cancelled by its limit, deadlock, serialisation failure: rolled back, and may be repeated. */
const repeatable = new Set(['55P03', '57014', '40P01', '40001'])

/** Waits of 1, 2, 4 … 30 seconds: five minutes in all. */
const tries = 14
const longestMs = 30_000

/**
 * Repeats a step that could not get its lock in time. Waiting for a lock makes every later statement on the table wait behind
 * it, so a step waits for seconds, gives way, and tries again. Throws ConfigError `migration_blocked` with who holds the lock.
 */
export async function retryLocked(
  db: Kysely<Tables>,
  name: string,
  step: () => Promise<void>,
  options: { onWait?: OnStep; firstMs?: number } = {},
): Promise<void> {
  const { onWait, firstMs = 1_000 } = options
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await step()
    } catch (error) {
      const { code } = error as { code?: string }
      if (code === undefined || !repeatable.has(code)) throw error
      const holders = await holdersOfLocks(db).catch(() => '')
      if (attempt + 1 >= tries) {
        throw new ConfigError(
          'migration_blocked',
          `${name} could not get its lock (${code})${holders}. End what holds it, or run \`paydirt migrate\` at a quiet time: what was done stays, and it goes on from there`,
          { cause: error },
        )
      }
      const waitMs = Math.min(firstMs * 2 ** attempt, longestMs)
      onWait?.(
        `${name} waits for a lock${holders}; next try in ${Math.round(waitMs / 100) / 10} s (${attempt + 1} of ${tries})`,
        'warn',
      )
      await delay(waitMs)
    }
  }
}

/** Names the oldest open transactions of others, which are the likely holders, without their statements: those may hold values. */
async function holdersOfLocks(db: Kysely<Tables>): Promise<string> {
  const { rows } = await sql<{ pid: number; application_name: string; seconds: string }>`
    select pid, application_name, round(extract(epoch from now() - xact_start))::text as seconds
    from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and xact_start < now() - interval '1 second'
    order by xact_start limit 3`.execute(db)
  if (rows.length === 0) return ''
  const each = rows.map(
    ({ pid, application_name: name, seconds }) => `${pid}${name ? ` (${name})` : ''} for ${seconds} s`,
  )
  return `; transactions are open in process ${each.join(', ')}`
}
