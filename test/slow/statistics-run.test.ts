import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { openDatabase } from '../../src/store/database/database.ts'
import { openDesk } from '../support/cli.ts'
import { makeFile } from '../support/spellings.ts'

// The ledger has the tasks of an earlier run, and its process analyses them when it begins. A second run has no rows by that: each
// row of its output was joined by reading a whole table.
test('the tables of a run are analysed before its output and its figures are read', async () => {
  const sandbox = await startSandbox()
  const desk = await openDesk(sandbox)
  const ledger = () =>
    openDatabase({ dataDir: join(desk.stores.dataDir, 'data'), url: desk.stores.databaseUrl })
  try {
    const file = makeFile(Array.from({ length: 20 }, (_, index) => `analysed-${index}`))
    await desk.write('first.csv', file.csv)
    expect(
      (await desk.run(['csv', 'first.csv', '--object', 'company', '--out', 'first-out.csv'])).status,
    ).toBe(0)
    const before = await ledger()
    // As many as an earlier file of some size has left.
    await sql`
      insert into tasks (run_id, ordinal, record_id, identity, status, updated_at)
      select (select id from runs limit 1), number, number::text, '{"name":"a company of some length"}', 'written', now()
      from generate_series(1000, 5000) as number`.execute(before.db)
    await before.close()

    await desk.write('second.csv', file.csv.replaceAll('analysed-', 'analysed-again-'))
    const second = await desk.run([
      'csv',
      'second.csv',
      '--object',
      'company',
      '--out',
      'second-out.csv',
      '--json',
    ])
    expect(second.status).toBe(0)
    const { runId } = second.json() as { runId: string }
    const after = await ledger()
    const { rows } = await sql<{ runs: string }>`
      select most_common_vals::text as runs from pg_stats where tablename = 'tasks' and attname = 'run_id'`.execute(
      after.db,
    )
    await after.close()
    expect(rows[0]?.runs).toContain(runId)
  } finally {
    await desk.close()
    await sandbox.stop()
  }
})
