import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { indefinitely } from '../database/states.ts'
import type { FailureCause } from '../runs/retry-and-skip.ts'

/** Records that are parked or were rejected for the same cause. */
export interface FailureGroup extends FailureCause {
  /** Identifies the group in a form: a hash of its cause. */
  id: string
  records: number
  runs: number
  /** When the first of them resumes by itself; null: never, a person has to act. */
  resumesAt: Date | null
  lastAt: Date
  /** One record of the group. */
  example: { connector: string; entity: string; recordId: string }
}

/** Returns the groups of the runs since then, the largest first. Parked records are included whatever their age. */
export async function failureGroups(db: Database, since: Date): Promise<FailureGroup[]> {
  const { rows } = await sql<
    Omit<FailureGroup, 'id' | 'example'> & { connector: string; entity: string; recordId: string }
  >`
    select tasks.status, case when tasks.status = 'parked' then lookups.code end as code,
      coalesce(tasks.reason, lookups.reason, 'no reason is known') as reason,
      count(*)::int as records, count(distinct tasks.run_id)::int as runs,
      case when tasks.status = 'parked' then nullif(min(due_at), ${indefinitely}) end as "resumesAt",
      max(tasks.updated_at) as "lastAt",
      (array_agg(runs.connector order by tasks.id desc))[1] as connector,
      (array_agg(runs.entity order by tasks.id desc))[1] as entity,
      (array_agg(tasks.record_id order by tasks.id desc))[1] as "recordId"
    from tasks join runs on runs.id = tasks.run_id left join lookups on lookups.key = tasks.waiting_for
    where runs.state != 'planned'
      and (tasks.status = 'parked' or (tasks.status = 'rejected' and tasks.updated_at >= ${since}))
    group by 1, 2, 3 order by 4 desc limit 100`.execute(db)
  return rows.map(({ connector, entity, recordId, ...group }) => ({
    ...group,
    id: groupId(group),
    example: { connector, entity, recordId },
  }))
}

function groupId({ status, code, reason }: FailureCause): string {
  return createHash('sha256')
    .update(JSON.stringify([status, code, reason]))
    .digest('hex')
    .slice(0, 20)
}
