// Changes rows of an embedded ledger, round after round, while its pages are compressed, and tells of each committed round. The
// parent kills it.
import { sql } from 'kysely'
import { openDatabase } from '../../src/store/database/database.ts'

const [dataDir = '', after = '0'] = process.argv.slice(2)
const { db, pages } = await openDatabase({ dataDir })

for (let round = Number(after) + 1; ; round += 1) {
  const settling = round % 2 === 0 ? pages?.settle() : undefined
  await db.transaction().execute(async (tx) => {
    await sql`
      insert into meta (key, value) select 'kill/' || n, ${String(round)} || repeat(' of round ' || n, 60)
      from generate_series(1, 4000) as n on conflict (key) do update set value = excluded.value`.execute(tx)
  })
  process.stdout.write(`${round}\n`)
  await settling
  if (round % 3 === 0) await sql`vacuum meta`.execute(db)
  if (round % 4 === 0) await sql`checkpoint`.execute(db)
}
