import { sql, type LogEvent } from 'kysely'
import type { Database } from '../../src/store/database/database.ts'

/** Returns the plan of the last of these statements that contains a text. With `analyze` it is carried out once more. */
export async function planOf(
  db: Database,
  queries: readonly LogEvent['query'][],
  text: string,
  { analyze = false } = {},
): Promise<string> {
  const found = queries.findLast((query) => query.sql.includes(text))
  if (!found) throw new Error(`no statement has ${text}`)
  const parameters = found.parameters as unknown[]
  const pieces = found.sql.split(/\$\d+/).flatMap((part, at) => {
    const value = at < parameters.length ? [sql`${parameters[at]}`] : []
    return [sql.raw(part), ...value]
  })
  const how = sql.raw(analyze ? 'explain (analyze, timing off)' : 'explain')
  const { rows } = await sql<Record<string, string>>`${how} ${sql.join(pieces, sql``)}`.execute(db)
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}
