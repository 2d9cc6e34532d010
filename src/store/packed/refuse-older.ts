import { sql, type Kysely } from 'kysely'
import { packedRows } from './ledger-adapter.ts'

/**
 * Refuses programs that cannot read packed rows, where a backup has brought some: that of an embedded ledger, restored on a
 * server. In the transaction of the rows, so that there is no moment at which an older program could read them.
 */
export async function refuseOlder<T>(tx: Kysely<T>): Promise<void> {
  await sql`
    update schema_changes set oldest_program = left(name, 4) where name = ${packedRows} and oldest_program is null and (
      exists (select from lookups where answer ? '$z') or exists (select from tasks where patch ? '$z')
      or exists (select from charges where starts_with(authorization_json::text, '{"$z"')))`.execute(tx)
}
