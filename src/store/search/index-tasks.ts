import { sql, type Transaction } from 'kysely'
import type { Identity, Patch } from '../../domain/record.ts'
import { searchWords } from '../../domain/search/search-words.ts'
import type { ObjectKind } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'
import { isEmbedded } from '../database/embedded.ts'
import { readMeta, writeMeta } from '../database/meta.ts'
import { storableJson } from '../database/parameters.ts'
import type { Tables } from '../database/tables/schema.ts'

/** The advisory lock for making tasks searchable. The number is arbitrary, and the same in every process. */
const lockId = 7_290_018
/** The rows of `meta` that say how far the tasks were read: by id, and by the time at which they ended. */
const readUpTo = 'tasks_searchable'
const endedUpTo = 'tasks_searchable_ended'
/**
 * The rows of `meta` with the time of the last look back over the whole overlap, and with how far the tasks were read by id at the look back
 * before it and at that one.
 */
const lookedBackAt = 'tasks_searchable_looked_back'
const lookedBackUpTo = 'tasks_searchable_looked_back_ids'
/**
 * So many ids before the last one are looked at again with each page: tasks with lower ids may be committed later. A look back begins so
 * many before the place of the look back before the last one, so that a transaction may take half a minute; but no more than `most` before
 * the place, where a version that has no such places worked meanwhile. The embedded ledger has one transaction at a time, so that its ids are
 * committed in their order; to look back over half a minute of them held up everybody for 200 to 500 ms.
 */
const idOverlap = { short: 500, whole: 5_000, most: 200_000 }
/**
 * Clocks of several machines differ, and a transaction shows its rows when it is committed. The embedded ledger has one clock, and one
 * transaction at a time; to look back over five minutes of it held up everybody for 100 to 200 ms.
 */
const endOverlapMs = { whole: 5 * 60_000, embedded: 60_000, short: 5_000 }
/**
 * The whole overlap is read this often, and a short one with each page: at a thousand a second it is 300,000 tasks, and a page has some
 * hundred.
 */
const lookBackEveryMs = 30_000
/** While new tasks wait, those that have ended are read this often, and not with each page. */
const readEndedEveryMs = 1_000

interface Read {
  id: bigint
  object: ObjectKind
  identity: Identity
  patch: Patch | null
  at: Date
}

/**
 * Makes up to `limit` tasks searchable that are not yet, and reads again up to as many that have ended since. Returns how
 * many. Nothing else depends on these words, so they are made after the fact, and no step of a task waits for them.
 *
 * Crash and race windows:
 * - A page's words and its place are stored in one transaction: killed in between, it is read again.
 * - A second process finds the lock taken and leaves the page to the first.
 * - A subject is forgotten after its task was read and before the words are stored: the words come back, with the time of the
 *   reading. Forgetting changes the task's own time, so the next pass reads it again and stores no words, or the next whole look where
 *   forgetting took longer than the short overlap.
 */
export async function indexTasks(
  db: Database,
  { hosts, now, limit }: { hosts: readonly string[]; now: () => Date; limit: number },
): Promise<number> {
  return inTurn(db, async (tx) => {
    const at = now()
    const lookedBack = Date.parse((await readMeta(tx, lookedBackAt)) ?? '')
    const looksBack = !(Math.abs(at.getTime() - lookedBack) < lookBackEveryMs)
    const late = looksBack ? await readLate(tx, limit) : []
    const added = await readNew(tx, limit)
    const readsEnded = looksBack || added.length < limit || (await isLongSince(tx, at))
    const whole = isEmbedded(tx) ? 'embedded' : 'whole'
    const ended = readsEnded ? await readEnded(tx, limit, looksBack ? whole : 'short', at) : []
    // More of the late ones may be left than fit a page: the next page looks back too.
    if (looksBack && late.length < limit) await writeMeta(tx, lookedBackAt, at.toISOString())
    return store(tx, [...late, ...added, ...ended], hosts)
  })
}

/** Makes up to `limit` tasks searchable that are not yet, and reads none again. Returns how many. */
export async function indexNewTasks(
  db: Database,
  { hosts, limit }: { hosts: readonly string[]; limit: number },
): Promise<number> {
  return inTurn(db, async (tx) => {
    const added = await readNew(tx, limit)
    return store(tx, added, hosts)
  })
}

async function inTurn(db: Database, work: (tx: Transaction<Tables>) => Promise<number>): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<{
      taken: boolean
    }>`select pg_try_advisory_xact_lock(${lockId}) as taken`.execute(tx)
    return rows[0]?.taken ? work(tx) : 0
  })
}

/** Returns how many of the newest tasks are not searchable yet, counted up to `most`. */
export async function unsearchable(db: Database, most: number): Promise<number> {
  const after = Number((await readMeta(db, readUpTo)) ?? 0)
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (select from tasks where id > ${after} limit ${most}) as newer`.execute(
    db,
  )
  return rows[0]?.count ?? 0
}

/** Returns tasks behind the place that were committed after it had passed them. */
async function readLate(tx: Transaction<Tables>, limit: number): Promise<Read[]> {
  const upTo = Number((await readMeta(tx, readUpTo)) ?? 0)
  const [beforeLast = upTo, last = upTo] = ((await readMeta(tx, lookedBackUpTo)) ?? '')
    .split(' ')
    .filter(Boolean)
    .map(Number)
  const place = isEmbedded(tx) ? upTo : Math.max(Math.min(upTo, beforeLast), upTo - idOverlap.most)
  const from = place - idOverlap.whole
  const { rows } = await sql<Read>`
    select tasks.id, object, identity, patch, updated_at as at from tasks join runs on runs.id = tasks.run_id
    where tasks.id > ${from} and tasks.id <= ${upTo} and runs.state <> 'planned'
      and not exists (select from task_words where task_id = tasks.id and task_id > ${from} and task_id <= ${upTo})
    order by tasks.id limit ${limit}`.execute(tx)
  if (rows.length < limit) await writeMeta(tx, lookedBackUpTo, `${last} ${upTo}`)
  return rows
}

/** The words too are asked for behind the place only: Postgres compares two lists, and would read those of all tasks for each page. */
async function readNew(tx: Transaction<Tables>, limit: number): Promise<Read[]> {
  const before = Number((await readMeta(tx, readUpTo)) ?? 0)
  const from = Math.max(0, before - idOverlap.short)
  const { rows } = await sql<Read>`
    select tasks.id, object, identity, patch, updated_at as at from tasks join runs on runs.id = tasks.run_id
    where tasks.id > ${from} and runs.state <> 'planned'
      and not exists (select from task_words where task_id = tasks.id and task_id > ${from})
    order by tasks.id limit ${limit}`.execute(tx)
  const last = Number(rows.at(-1)?.id ?? 0)
  if (last > before) await writeMeta(tx, readUpTo, String(last))
  return rows
}

async function isLongSince(tx: Transaction<Tables>, at: Date): Promise<boolean> {
  const upTo = Date.parse((await readMeta(tx, endedUpTo)) ?? '')
  return !(Math.abs(at.getTime() - upTo) < readEndedEveryMs)
}

async function readEnded(
  tx: Transaction<Tables>,
  limit: number,
  overlap: keyof typeof endOverlapMs,
  at: Date,
): Promise<Read[]> {
  const before = new Date((await readMeta(tx, endedUpTo)) ?? at)
  // Tasks that end together have one time, and a page may end between them.
  const since = new Date(before.getTime() - endOverlapMs[overlap])
  const { rows } = await sql<Read>`
    select tasks.id, object, identity, patch, updated_at as at from tasks join runs on runs.id = tasks.run_id
      join task_words on task_id = tasks.id
    where tasks.status in ('written', 'unchanged', 'skipped', 'rejected') and updated_at > ${since}
      and date_trunc('milliseconds', updated_at) > seen_at
    order by updated_at limit ${limit}`.execute(tx)
  const upTo = rows.length >= limit ? (rows.at(-1)?.at ?? at) : at
  await writeMeta(tx, endedUpTo, upTo.toISOString())
  return rows
}

/** Returns how many it stored. A task that is in several lists is stored once: one statement cannot change a row twice. */
async function store(
  tx: Transaction<Tables>,
  read: readonly Read[],
  hosts: readonly string[],
): Promise<number> {
  if (read.length === 0) return 0
  const rows = [...new Map(read.map((task) => [task.id, task])).values()].map(
    ({ id, object, identity, patch, at }) => ({
      task_id: String(id),
      words: searchWords(object, identity, patch, hosts),
      seen_at: at.toISOString(),
    }),
  )
  await sql`
    insert into task_words (task_id, words, seen_at)
    select task_id, array_to_tsvector(array(select jsonb_array_elements_text(page.words))), seen_at
    from jsonb_to_recordset(${storableJson(rows)}::jsonb) as page (task_id bigint, words jsonb, seen_at timestamptz)
    on conflict (task_id) do update set words = excluded.words, seen_at = excluded.seen_at`.execute(tx)
  return rows.length
}
