import { sql } from 'kysely'
import type { Context } from '../../src/app/context/context.ts'

/** Returns every row of every table as text: what a dump of the database would show. */
export async function dumpLedger({ database: { db } }: Pick<Context, 'database'>): Promise<string> {
  const { rows: tables } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public' order by 1`.execute(db)
  const parts = []
  for (const { name } of tables) {
    const { rows } = await sql<{ row: string }>`
      select to_jsonb(t)::text as row from ${sql.table(name)} as t`.execute(db)
    parts.push(`${name}\n${rows.map(({ row }) => `${name}: ${row}`).join('\n')}`)
  }
  return parts.join('\n')
}

/** Returns the lines of a dump that have one of the words. */
export function tracesIn(dump: string, words: readonly string[]): string[] {
  return dump
    .split('\n')
    .filter((line) => words.some((word) => line.toLowerCase().includes(word.toLowerCase())))
}
