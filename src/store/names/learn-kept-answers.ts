import { sql } from 'kysely'
import { teachingOperations } from '../../domain/subjects/taught-names.ts'
import type { Database } from '../database/database.ts'
import { readMeta, writeMeta } from '../database/meta.ts'
import { learnFromAnswers, type Taught } from './learn-names.ts'

const pageSize = 100
/** The row of `meta` that says up to which key the kept answers were read; `done` when all were. */
const progressName = 'names_learned'
const done = 'done'

/**
 * Learns the names in the answers that the ledger had before it kept names. Does it once, page by page, and returns how many
 * answers were read.
 *
 * Crash window: a page's names and its place are stored in one transaction. Killed in between, or run by two processes at
 * once, a page is read again, which teaches nothing new.
 */
export async function learnFromKeptAnswers(
  db: Database,
  { hosts, now }: { hosts: readonly string[]; now: () => Date },
): Promise<number> {
  let read = 0
  for (;;) {
    const after = (await readMeta(db, progressName)) ?? ''
    if (after === done) return read
    const { rows } = await sql<Taught>`
      select key, answer as data from lookups
      where operation = any(${[...teachingOperations]}::text[]) and outcome in ('found', 'not_found')
        and jsonb_typeof(answer) = 'object' and key > ${after} order by key limit ${pageSize}`.execute(db)
    const last = rows.at(-1)?.key
    await db.transaction().execute(async (tx) => {
      await learnFromAnswers(tx, rows, { hosts, at: now() })
      await writeMeta(tx, progressName, last === undefined || rows.length < pageSize ? done : last)
    })
    read += rows.length
  }
}
