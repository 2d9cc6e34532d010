import { sql } from 'kysely'
import type { Context } from '../../src/app/context/context.ts'
import { unpackJson } from '../../src/store/packed/packed-json.ts'

/**
 * Returns every row of every table as text: what a dump of the database would show. Packed values are unpacked: whoever has the
 * dump can do that.
 */
export async function dumpLedger({ database: { db } }: Pick<Context, 'database'>): Promise<string> {
  const { rows: tables } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public' order by 1`.execute(db)
  const parts = []
  for (const { name } of tables) {
    const { rows } = await sql<{ row: string }>`
      select to_jsonb(t)::text as row from ${sql.table(name)} as t`.execute(db)
    parts.push(`${name}\n${rows.map(({ row }) => `${name}: ${unpackedRow(row)}`).join('\n')}`)
  }
  return parts.join('\n')
}

function unpackedRow(row: string): string {
  if (!row.includes('"$z"')) return row
  const columns = JSON.parse(row) as Record<string, unknown>
  return JSON.stringify(
    Object.fromEntries(Object.entries(columns).map(([name, value]) => [name, unpackJson(value)])),
  )
}

/** Returns the lines of a dump that have one of the words. */
export function tracesIn(dump: string, words: readonly string[]): string[] {
  return dump
    .split('\n')
    .filter((line) => words.some((word) => line.toLowerCase().includes(word.toLowerCase())))
}
