import { sql } from 'kysely'
import { recordIdentities } from '../../domain/subjects/record-identities.ts'
import type { Identity } from '../../domain/record.ts'
import type { ObjectKind } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'
import { readMeta, writeMeta } from '../database/meta.ts'

const pageSize = 500
/** The row of `meta` that says up to which task the records of earlier runs were read; `done` when all were. */
const progressName = 'records_indexed'
const done = 'done'

/**
 * Takes the records of earlier runs into the index, for deliveries of monitors. Does it once, page by page, and returns how many
 * tasks were read.
 *
 * Crash window: a page's entries and its place are stored in one transaction. Killed in between, or run by two processes at once,
 * a page is read again, which adds nothing new.
 */
export async function indexKnownTasks(
  db: Database,
  { connectors, hosts, now }: { connectors: readonly string[]; hosts: readonly string[]; now: () => Date },
): Promise<number> {
  for (let read = 0; ;) {
    const after = (await readMeta(db, progressName)) ?? '0'
    if (after === done) return read
    const { rows } = await sql<Row>`
      select tasks.id::text, record_id as "recordId", tasks.identity, runs.connector, runs.entity, runs.object
      from tasks join runs on runs.id = tasks.run_id
      where tasks.id > ${after}::bigint order by tasks.id limit ${pageSize}`.execute(db)
    const found = rows
      .filter(({ connector }) => connectors.includes(connector))
      .flatMap(({ connector, entity, recordId, identity, object }) =>
        recordIdentities({ object, identity }, { hosts }).map((each) => ({
          connector,
          entity,
          recordId,
          ...each,
        })),
      )
    await db.transaction().execute(async (tx) => {
      await sql`
        insert into record_identities (connector, entity, record_id, kind, value, seen_at)
        select distinct connector, entity, "recordId", kind, value, ${now()}::timestamptz
        from jsonb_to_recordset(${JSON.stringify(found)}::jsonb)
          as given (connector text, entity text, "recordId" text, kind text, value text)
        order by 1, 2, 3, 4, 5 on conflict do nothing`.execute(tx)
      await writeMeta(tx, progressName, rows.length < pageSize ? done : (rows.at(-1)?.id ?? done))
    })
    read += rows.length
  }
}

interface Row {
  id: string
  recordId: string
  identity: Identity
  connector: string
  entity: string
  object: ObjectKind
}
