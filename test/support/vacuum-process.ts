// Changes rows of an embedded ledger and vacuums without end, and prints the number of each round once it is committed.
import { sql } from 'kysely'
import { checkpointWhenLong } from '../../src/store/database/checkpoint.ts'
import { openDatabase } from '../../src/store/database/database.ts'
import { vacuumTables } from '../../src/store/database/vacuum-tables.ts'

const [dataDir = '', first = '0'] = process.argv.slice(2)
const database = await openDatabase({ dataDir })
await sql`insert into meta (key, value) select 'kill/' || n, '0' from generate_series(1, 500) as n
  on conflict (key) do nothing`.execute(database.db)
for (let round = Number(first) + 1; ; round += 1) {
  await sql`update meta set value = ${String(round)} where key like 'kill/%'`.execute(database.db)
  process.stdout.write(`${round}\n`)
  await vacuumTables(database, { dead: 1, share: 0 })
  if (round % 7 === 0) await checkpointWhenLong(database, 1)
}
