import type { Database } from '../database/database.ts'
import type { MatchOutcome, MatchState } from '../database/tables/match-tables.ts'

/** A match as a page shows it. Its company may be a person's own business, so that its name stays out of addresses and logs. */
export interface MatchRow {
  /** The id of its run. */
  id: string
  company: string | null
  state: MatchState
  outcome: MatchOutcome | null
  reason: string | null
  recordId: string | null
  signals: number
  takenAt: Date
}

/** The matches of a monitor in one state. `state` is the outcome of those that have ended. */
export interface MatchCount {
  monitor: string
  state: Exclude<MatchState, 'done'> | MatchOutcome
  matches: number
}

/** Returns the number of matches of each monitor by their state, or by their outcome once they have ended. */
export async function matchCounts(db: Database): Promise<MatchCount[]> {
  const rows = await db
    .selectFrom('matches')
    .select(({ fn }) => [
      'monitor',
      fn.coalesce('outcome', 'state').as('state'),
      fn.countAll<bigint>().as('matches'),
    ])
    .groupBy(['monitor', ({ fn }) => fn.coalesce('outcome', 'state')])
    .orderBy('monitor')
    .execute()
  return rows.map(({ monitor, state, matches }) => ({
    monitor,
    state: state as MatchCount['state'],
    matches: Number(matches),
  }))
}

/** Returns one page of the matches of a monitor, the latest first. */
export async function matchesOfMonitor(
  db: Database,
  monitor: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<MatchRow[]> {
  const rows = await db
    .selectFrom('matches')
    .select(['id', 'company', 'state', 'outcome', 'reason', 'record_id', 'signals', 'taken_at'])
    .where('monitor', '=', monitor)
    .orderBy('taken_at', 'desc')
    .orderBy('id')
    .limit(limit)
    .offset(offset)
    .execute()
  return rows.map(({ company, record_id: recordId, signals, taken_at: takenAt, ...row }) => ({
    ...row,
    company: nameOf(company.values ?? {}) ?? company.identity?.domain ?? null,
    recordId,
    signals: signals.length,
    takenAt,
  }))
}

function nameOf(values: Readonly<Record<string, unknown>>): string | undefined {
  const name = values['company_name']
  return typeof name === 'string' ? name : undefined
}
