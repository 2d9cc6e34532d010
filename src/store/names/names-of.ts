import { sql } from 'kysely'
import type { Database } from '../database/database.ts'

/** Returns, for each of these names, all names of the subject that it stands for. A name that is not known has none. */
export async function namesOfSubjects(
  db: Database,
  names: readonly string[],
): Promise<ReadonlyMap<string, string[]>> {
  if (names.length === 0) return new Map()
  const { rows } = await sql<{ asked: string; names: string[] }>`
    select asked.name as asked, array_agg(other.name order by other.name collate "C") as names
    from subject_names as asked join subject_names as other on other.subject = asked.subject
    where asked.name = any(${[...new Set(names)]}::text[]) group by asked.name`.execute(db)
  return new Map(rows.map((row) => [row.asked, row.names]))
}
