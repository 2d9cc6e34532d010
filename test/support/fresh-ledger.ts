import { join } from 'node:path'
import { sql, type LogEvent } from 'kysely'
import { openDatabase, type OpenDatabase } from '../../src/store/database/database.ts'
import { idleLedgers, type Ledger } from './idle-ledgers.ts'
import { layLedger } from './ledger-template.ts'
import { freshStores } from './stores.ts'

/** An empty ledger, embedded or on the server of DATABASE_URL. `close` leaves nothing that the next test could find. */
export async function openFreshLedger(
  options: { onQuery?: (event: LogEvent) => void } = {},
): Promise<Ledger> {
  // A test that listens to the queries of a ledger has opened it alone.
  if (options.onQuery) return open(options)
  const ledger = idleLedgers.pop() ?? (await open())
  return {
    database: ledger.database,
    async close() {
      await empty(ledger.database)
      idleLedgers.push(ledger)
    },
  }
}

async function open(options: { onQuery?: (event: LogEvent) => void } = {}): Promise<Ledger> {
  const stores = await freshStores()
  const dataDir = join(stores.dataDir, 'data')
  await layLedger(dataDir)
  const database = await openDatabase({
    dataDir,
    ...(stores.databaseUrl ? { url: stores.databaseUrl } : {}),
    ...options,
  })
  return {
    database,
    async close() {
      await database.close()
      await stores.cleanup()
    },
  }
}

/**
 * Migrations insert no rows into an empty ledger, so that an empty table is a new one. Only tables with rows are emptied: each
 * takes new files for itself and its indexes, and a test fills few of seventy.
 */
async function empty({ db }: OpenDatabase): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public' and tablename not in ('migrations', 'schema_changes')`.execute(
    db,
  )
  const looks = rows.map(
    ({ name }) => sql`select ${sql.lit(name)} as name where exists (select from ${sql.table(name)})`,
  )
  const filled = await sql<{ name: string }>`${sql.join(looks, sql` union all `)}`.execute(db)
  if (filled.rows.length > 0)
    await sql`truncate ${sql.join(filled.rows.map(({ name }) => sql.table(name)))} cascade`.execute(db)
  await sql`
    select setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false)
    from pg_sequences where schemaname = 'public' and last_value is not null`.execute(db)
}
