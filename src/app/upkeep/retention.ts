import { eraseDue, listErasures, readRetention } from '../../store/retention/erasures.ts'
import { keptTables } from '../../store/retention/register.ts'
import type { Context } from '../context/context.ts'

const pageSize = 500
const mostErasures = 100

/** Erases what is older than the settings of retention allow. Returns how many rows. */
export async function enforceRetention(
  context: Pick<Context, 'database' | 'config' | 'now' | 'randomBytes'>,
): Promise<number> {
  return eraseDue(context.database.db, {
    days: context.config.keptDays,
    now: context.now(),
    token: () => context.randomBytes(12).toString('hex'),
    pageSize,
  })
}

/** Returns what is kept for how long, what is due now, and what was erased when. Changes nothing. */
export async function reportRetention({
  database,
  config,
  now,
}: Pick<Context, 'database' | 'config' | 'now'>) {
  return {
    rules: await readRetention(database.db, { days: config.keptDays, now: now() }),
    tables: [...keptTables],
    erasures: await listErasures(database.db, mostErasures),
  }
}

export type RetentionReport = Awaited<ReturnType<typeof reportRetention>>
