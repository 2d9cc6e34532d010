import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import type { RunHead } from './desk-runs.ts'

/**
 * Returns the id of the last run of the same source that began before this one: the same object of a CRM, or the same file,
 * with the same recipe. A schedule, a request and a command that read the same object are one source; an on-demand request
 * names its own records, so it is compared with other on-demand requests.
 */
export async function lastOfSource(
  db: Database,
  { id, connector, entity, recipe, startedAt }: RunHead,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select others.id from runs as others, runs as this
    where this.id = ${id} and others.id <> this.id and others.state <> 'planned'
      and others.connector = ${connector} and others.entity = ${entity} and others.recipe = ${recipe}
      and others.started_at <= ${startedAt}
      and coalesce(others.source->>'path', '') = coalesce(this.source->>'path', '')
      and (others.trigger in ('button', 'workflow', 'monitor')) = (this.trigger in ('button', 'workflow', 'monitor'))
    order by others.started_at desc, others.id desc limit 1`.execute(db)
  return rows[0]?.id
}
