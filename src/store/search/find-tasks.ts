import { sql, type RawBuilder } from 'kysely'
import { contactTypes } from '../../domain/contact-types.ts'
import { lookupKey, type LookupKey } from '../../domain/keys.ts'
import { operationsAbout } from '../../domain/operations.ts'
import type { Identity } from '../../domain/record.ts'
import type { SearchQuery, SearchTerm } from '../../domain/search/search-query.ts'
import { namedBy } from '../../domain/subjects/names.ts'
import { objectKinds, type ObjectKind, type TaskStatus } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'
import { namesOfSubjects } from '../names/names-of.ts'
import { scheduleOfRun } from '../views/desk-runs.ts'

export interface TaskFilters {
  connector?: string | undefined
  schedule?: string | undefined
  status?: TaskStatus | undefined
  /** Words of the reason, or the code that parked the lookup. */
  cause?: string | undefined
  /** The task changed last at this time or later. */
  from?: Date | undefined
  /** The task changed last before this time. */
  before?: Date | undefined
}

/** The place of a task in the order of the list: newest first. */
export interface TaskCursor {
  at: Date
  id: bigint
}

export interface FoundTask extends TaskCursor {
  run: string
  connector: string
  entity: string
  object: ObjectKind
  recordId: string
  identity: Identity
  status: TaskStatus
  reason: string | null
  trigger: string
  file: string | null
  schedule: string | null
}

export interface TaskPage {
  tasks: FoundTask[]
  hasNewer: boolean
  hasOlder: boolean
}

/** Tasks by text: by words, by the id of their record, or by lookups about the same subject under its other names. */
export interface TextMatch {
  words: string | undefined
  recordIds: readonly string[]
  keys: readonly LookupKey[]
}

/** Up to so many tasks are sorted; of more, the newest are found by going through the tasks in their order. */
const mostSorted = 5_000

/** Returns how the ledger finds a text. A profile or domain is found under every name that answers have taught. */
export async function matchOf(
  db: Database,
  { anyOf, names, recordId }: SearchQuery,
  canonicalIds: (id: string) => readonly string[],
): Promise<TextMatch> {
  const taught = [...(await namesOfSubjects(db, names)).values()].flat()
  const all = [...new Set([...names, ...taught])]
  return {
    words: anyOf.length === 0 ? undefined : anyOf.map((terms) => terms.map(lexeme).join(' & ')).join(' | '),
    recordIds: [...new Set([recordId, ...canonicalIds(recordId)])].filter((id) => id !== ''),
    keys: all.flatMap((name) =>
      objectKinds
        .flatMap(operationsAbout)
        .flatMap((operation) => [
          lookupKey(operation, name),
          ...contactTypes.map((type) => lookupKey(operation, `${name}|${type}`)),
        ])
        .filter((key) => namedBy(key) !== undefined),
    ),
  }
}

/** Quoted, so that no character of it has a meaning in a query. */
function lexeme({ text, isBeginning }: SearchTerm): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'${isBeginning ? ':*' : ''}`
}

/** Returns a page of tasks, newest first: the first one, that behind `older`, or that before `newer`. */
export async function findTasks(
  db: Database,
  match: TextMatch | undefined,
  filters: TaskFilters,
  { older, newer, limit }: { older?: TaskCursor | undefined; newer?: TaskCursor | undefined; limit: number },
): Promise<TaskPage> {
  const backwards = newer !== undefined
  const from = newer ?? older
  const place = from && {
    sql: backwards
      ? sql`(updated_at, tasks.id) > (${from.at}, ${from.id})`
      : sql`(updated_at, tasks.id) < (${from.at}, ${from.id})`,
    // By the time alone as well, so that an index on it is used.
    range: backwards ? sql`updated_at >= ${from.at}` : sql`updated_at <= ${from.at}`,
  }
  const conditions = [...conditionsOf(filters), ...(place ? [place.sql, place.range] : [])]
  const order = backwards ? sql`updated_at, id` : sql`updated_at desc, id desc`
  const ids = match && (await idsOf(db, match))
  const page =
    ids && ids.length <= mostSorted
      ? branch([...conditions, sql`tasks.id = any(${ids.map(String)}::bigint[])`], order, limit + 1)
      : walk([...conditions, ...(match ? [hasWords(match)] : [])], filters.status, order, limit + 1)
  const { rows } = await sql<FoundTask>`
    select tasks.id, tasks.updated_at as at, tasks.run_id as run, runs.connector, entity, object, tasks.record_id as "recordId",
      identity, tasks.status, coalesce(tasks.reason, lookups.reason) as reason, trigger, source->>'file' as file,
      ${scheduleOfRun} as schedule
    from (select id, updated_at from ${page} as each order by ${order} limit ${limit + 1}) as page
    join tasks on tasks.id = page.id join runs on runs.id = tasks.run_id left join lookups on lookups.key = tasks.waiting_for
    order by ${backwards ? sql`tasks.updated_at, tasks.id` : sql`tasks.updated_at desc, tasks.id desc`}`.execute(
    db,
  )
  const tasks = rows.slice(0, limit)
  if (backwards) tasks.reverse()
  const isMore = rows.length > limit
  return {
    tasks,
    hasNewer: backwards ? isMore : from !== undefined,
    hasOlder: backwards ? true : isMore,
  }
}

/** Returns the ids of the tasks that a text names; one more than can be sorted when there are too many. */
async function idsOf(db: Database, { words, recordIds, keys }: TextMatch): Promise<bigint[]> {
  const { rows } = await sql<{ id: bigint }>`
    select id from tasks where record_id = any(${[...recordIds]}::text[])
    union
    select id from tasks where lookup_key = any(${[...keys]}::text[])
    ${words === undefined ? sql`` : sql`union (select task_id from task_words where words @@ ${words}::tsquery limit ${mostSorted + 1})`}
    limit ${mostSorted + 1}`.execute(db)
  return rows.map(({ id }) => id)
}

function hasWords({ words }: TextMatch): RawBuilder<boolean> {
  return sql<boolean>`exists (select from task_words where task_id = tasks.id and words @@ ${words ?? ''}::tsquery)`
}

/** The tasks by the time at which they changed last. Each part has an index of its own; parked tasks are few, or sorted. */
const parts: { statuses: readonly TaskStatus[]; sql: RawBuilder<unknown> }[] = [
  {
    statuses: ['written', 'unchanged', 'skipped', 'rejected'],
    sql: sql`tasks.status in ('written', 'unchanged', 'skipped', 'rejected')`,
  },
  { statuses: ['looking_up', 'ready'], sql: sql`tasks.status in ('looking_up', 'ready')` },
  { statuses: ['parked'], sql: sql`tasks.status = 'parked'` },
  { statuses: ['queued'], sql: sql`tasks.status = 'queued'` },
]

function walk(
  conditions: readonly RawBuilder<unknown>[],
  status: TaskStatus | undefined,
  order: RawBuilder<unknown>,
  limit: number,
): RawBuilder<unknown> {
  if (status === 'rejected') return branch([sql`tasks.status = 'rejected'`, ...conditions], order, limit)
  const wanted = parts.filter(({ statuses }) => status === undefined || statuses.includes(status))
  return sql`(${sql.join(
    wanted.map((part) => branch([part.sql, ...conditions], order, limit)),
    sql` union all `,
  )})`
}

function branch(
  conditions: readonly RawBuilder<unknown>[],
  order: RawBuilder<unknown>,
  limit: number,
): RawBuilder<unknown> {
  return sql`(select tasks.id, updated_at from tasks where ${sql.join(conditions, sql` and `)} order by ${order} limit ${limit})`
}

function conditionsOf({
  connector,
  schedule,
  status,
  cause,
  from,
  before,
}: TaskFilters): RawBuilder<unknown>[] {
  const runs = [
    ...(connector === undefined ? [] : [sql`connector = ${connector}`]),
    ...(schedule === undefined
      ? []
      : [sql`exists (select from schedule_turns where run_id = runs.id and schedule = ${schedule})`]),
  ]
  return [
    runs.length > 0
      ? sql`tasks.run_id = any(array(select id from runs where state <> 'planned' and ${sql.join(runs, sql` and `)}))`
      : sql`tasks.run_id <> all(array(select id from runs where state = 'planned'))`,
    ...(status === undefined ? [] : [sql`tasks.status = ${status}`]),
    ...(cause === undefined ? [] : [causeIs(cause)]),
    ...(from === undefined ? [] : [sql`updated_at >= ${from}`]),
    ...(before === undefined ? [] : [sql`updated_at < ${before}`]),
  ]
}

function causeIs(cause: string): RawBuilder<unknown> {
  const pattern = `%${cause.replace(/[\\%_]/g, '\\$&')}%`
  return sql`(tasks.reason ilike ${pattern} or exists (select from lookups where lookups.key = tasks.waiting_for
    and (lookups.code = ${cause} or lookups.reason ilike ${pattern})))`
}
