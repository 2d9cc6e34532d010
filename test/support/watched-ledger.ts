import { sql, type LogEvent } from 'kysely'
import { afterAll, beforeAll } from 'vitest'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import { openFreshLedger } from './fresh-ledger.ts'
import type { Ledger } from './idle-ledgers.ts'

/** A ledger of a test file's own, which remembers the statements that are sent to it. */
export function useWatchedLedger() {
  let ledger: Ledger
  let queries: LogEvent['query'][] = []
  beforeAll(
    async () => void (ledger = await openFreshLedger({ onQuery: ({ query }) => void queries.push(query) })),
  )
  afterAll(() => ledger.close())

  return {
    get database(): OpenDatabase {
      return ledger.database
    },
    forgetStatements: () => void (queries = []),
    /** Returns the number of statements that contain a text. */
    sent: (text: string) => queries.filter((query) => query.sql.includes(text)).length,
    /** Returns the plan of the last statement that contains a text. With `analyze` it is carried out once more. */
    async planOf(text: string, { analyze = false } = {}): Promise<string> {
      const found = queries.findLast((query) => query.sql.includes(text))
      if (!found) throw new Error(`no statement has ${text}`)
      const parameters = found.parameters as unknown[]
      const pieces = found.sql.split(/\$\d+/).flatMap((part, at) => {
        const value = at < parameters.length ? [sql`${parameters[at]}`] : []
        return [sql.raw(part), ...value]
      })
      const explain = sql.raw(analyze ? 'explain (analyze, timing off)' : 'explain')
      const { rows } = await sql<Record<string, string>>`${explain} ${sql.join(pieces, sql``)}`.execute(
        ledger.database.db,
      )
      return rows.map((row) => row['QUERY PLAN']).join('\n')
    },
  }
}
