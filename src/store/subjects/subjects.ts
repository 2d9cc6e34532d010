import { sql, type Transaction } from 'kysely'
import { ConfigError } from '../../domain/errors.ts'
import type { LookupKey } from '../../domain/keys.ts'
import type { Identifier } from '../../domain/subjects/identifiers.ts'
import { identifiersOf } from '../../domain/subjects/identifiers.ts'
import { isNamed, identifiersOfKey, profilesIn, scrub } from '../../domain/subjects/traces.ts'
import type { Operation } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'
import { dissolve } from '../ledger/batches.ts'
import type { Tables } from '../database/schema.ts'

/** Everything in the ledger that is about one subject. */
export interface Subject {
  /** What was given, and the addresses and profiles that the ledger knows of the same subject. */
  marks: Identifier[]
  taskIds: bigint[]
  lookups: LookupKey[]
}

/** How many rows of each table were changed. */
export interface Erased {
  lookups: number
  /** Answers about others in which the subject is named. */
  mentions: number
  tasks: number
  charges: number
  fieldWrites: number
  planRecords: number
  runs: number
}

const pageSize = 2_000

/**
 * Finds a subject by what names it. An address or profile that a record of the subject holds names it too; its phone does
 * not, for a phone may be that of a whole house.
 */
export async function findSubject(db: Database, given: readonly Identifier[]): Promise<Subject> {
  const marks = new Map(given.map((mark) => [nameOf(mark), mark]))
  const taskIds = new Set<bigint>()
  const lookups = new Set<LookupKey>()
  const kinds = given.some(({ kind, value }) => kind === 'profile_url' && /\/company\//.test(value))
    ? 'company'
    : 'person'
  for (let sizeBefore = -1; sizeBefore !== marks.size + lookups.size + taskIds.size;) {
    sizeBefore = marks.size + lookups.size + taskIds.size
    await collectLookups(db, kinds, marks, lookups)
    await collectTasks(db, kinds, { marks, lookups, taskIds })
  }
  return { marks: [...marks.values()], taskIds: [...taskIds], lookups: [...lookups] }
}

async function collectLookups(
  db: Database,
  object: 'company' | 'person',
  marks: Map<string, Identifier>,
  found: Set<LookupKey>,
): Promise<void> {
  const rows = await db
    .selectFrom('lookups')
    .select('key')
    .where('operation', 'in', operationsOf(object))
    .where((eb) => eb.or([...marks.values()].map(({ value }) => sql<boolean>`key like ${like(value)}`)))
    .execute()
  for (const { key } of rows) if (isNamed(identifiersOfKey(key), marks)) found.add(key)
  if (found.size === 0) return
  const answers = await db
    .selectFrom('lookups')
    .select(['key', 'answer'])
    .where('key', 'in', [...found])
    .where('answer', 'is not', null)
    .execute()
  for (const { key, answer } of answers) {
    // Only the person a lookup is about: a profile's neighbours are others.
    const mark =
      key.startsWith('contact.') || key.startsWith(`${object}.`) ? profilesIn(answer, object)[0] : undefined
    if (mark) marks.set(nameOf(mark), mark)
  }
}

async function collectTasks(
  db: Database,
  object: 'company' | 'person',
  {
    marks,
    lookups,
    taskIds,
  }: { marks: Map<string, Identifier>; lookups: Set<LookupKey>; taskIds: Set<bigint> },
): Promise<void> {
  for (let after = 0n; ;) {
    const rows = await db
      .selectFrom('tasks')
      .innerJoin('runs', 'runs.id', 'tasks.run_id')
      .select(['tasks.id', 'identity', 'lookup_key', 'waiting_for', 'steps'])
      .where('object', '=', object)
      .where('tasks.id', '>', after)
      .orderBy('tasks.id')
      .limit(pageSize)
      .execute()
    for (const row of rows) {
      const own = identifiersOf(row.identity).filter(({ kind }) => kind !== 'domain')
      const keys = [row.lookup_key, row.waiting_for, ...row.steps].filter((key) => key !== null)
      if (!isNamed(own, marks) && !keys.some((key) => lookups.has(key))) continue
      taskIds.add(row.id)
      for (const mark of own) if (mark.kind !== 'phone') marks.set(nameOf(mark), mark)
      for (const key of keys) if (isAbout(key, object)) lookups.add(key)
    }
    const last = rows.at(-1)
    if (!last || rows.length < pageSize) return
    after = last.id
  }
}

/**
 * Erases a subject. Its lookups keep their rows, and its charges their amounts and nonces, under a name that leads nowhere:
 * the accounts still add up. Throws ConfigError while a payment for the subject is open, for its bytes may be needed again.
 */
export async function eraseSubject(
  db: Database,
  subject: Subject,
  { now, token }: { now: () => Date; token: () => string },
): Promise<Erased> {
  return db.transaction().execute(async (tx) => {
    const names = new Map(
      subject.lookups.map((key) => [key, `${key.slice(0, key.indexOf('|'))}|forgotten:${token()}`]),
    )
    // Before it is asked whether a payment is open: whoever pays for one of them locks the same rows.
    await sql`
      select from lookups where key = any(${subject.lookups})
        or key = any(array(select bundle_key from bundle_members where lookup_key = any(${subject.lookups})))
      order by key collate "C" for update`.execute(tx)
    await refuseOpenPayments(tx, subject.lookups)
    await dissolveBundles(tx, subject.lookups, now())
    const erased = {
      planRecords: await erasePlans(tx, subject),
      charges: await eraseCharges(tx, subject.lookups),
      fieldWrites: await eraseFieldWrites(tx, subject.taskIds),
      tasks: await eraseTasks(tx, subject.taskIds, now()),
      lookups: await eraseLookups(tx, names, now()),
      mentions: await eraseMentions(tx, subject.marks),
      runs: await eraseConditions(tx, subject.marks),
    }
    return erased
  })
}

async function refuseOpenPayments(tx: Transaction<Tables>, keys: readonly LookupKey[]): Promise<void> {
  if (keys.length === 0) return
  const { rows: open } = await sql`
    select id from charges where ${paidFor(keys)} and state in ('journaled', 'sent', 'in_doubt')
    union all
    select key from lookups where query_id is not null and state != 'answered'
      and key in (select bundle_key from bundle_members where lookup_key = any(${[...keys]}))
    limit 1`.execute(tx)
  if (open.length === 0) return
  throw new ConfigError(
    'payment_open',
    'a payment for this subject is not settled yet, and what was sent may be needed again. `paydirt reconcile` settles it; then forget again',
  )
}

async function eraseLookups(
  tx: Transaction<Tables>,
  names: Map<LookupKey, string>,
  at: Date,
): Promise<number> {
  if (names.size === 0) return 0
  const pairs = JSON.stringify([...names].map(([old, name]) => ({ old, name })))
  await sql`
    update tasks set lookup_key = named.name from jsonb_to_recordset(${pairs}::jsonb) as named (old text, name text)
    where tasks.lookup_key = named.old`.execute(tx)
  for (const [old, name] of names) {
    await sql`update tasks set steps = array_replace(steps, ${old}::text, ${name}::text) where ${old}::text = any(steps)`.execute(
      tx,
    )
  }
  for (const table of ['refusals', 'field_writes'] as const) {
    await sql`
      update ${sql.table(table)} as named_row set lookup_key = named.name
      from jsonb_to_recordset(${pairs}::jsonb) as named (old text, name text)
      where named_row.lookup_key = named.old`.execute(tx)
  }
  // The keys of charges, and of tasks that wait, follow by themselves.
  const { rows } = await sql<{ key: string }>`
    update lookups set key = named.name, request = '{}', answer = null, queued_until = null, fresh_until = least(fresh_until, ${at}),
      state = case when state = 'answered' then state else 'failed' end,
      reason = case when state = 'answered' then null else 'forgotten' end
    from jsonb_to_recordset(${pairs}::jsonb) as named (old text, name text)
    where lookups.key = named.old returning lookups.key`.execute(tx)
  return rows.length
}

async function eraseTasks(tx: Transaction<Tables>, ids: readonly bigint[], at: Date): Promise<number> {
  if (ids.length === 0) return 0
  // The names of the fields stay, for the reports count them.
  const { rows } = await sql<{ id: bigint }>`
    update tasks set identity = '{}', updated_at = ${at},
      patch = (select jsonb_object_agg(field, '{"clear": true}'::jsonb) from jsonb_object_keys(patch) as field),
      waiting_for = case when status in ('looking_up', 'parked') then null else waiting_for end,
      reason = case when status in ('queued', 'looking_up', 'parked', 'ready') then 'forgotten' else reason end,
      status = case when status in ('queued', 'looking_up', 'parked', 'ready') then 'skipped' else status end
    where id = any(${ids.map(String)}::bigint[]) returning id`.execute(tx)
  return rows.length
}

async function eraseFieldWrites(tx: Transaction<Tables>, taskIds: readonly bigint[]): Promise<number> {
  if (taskIds.length === 0) return 0
  const { numUpdatedRows } = await tx
    .updateTable('field_writes')
    .set({ old_value: null, old_raw: null, new_value: null })
    .where('task_id', 'in', [...taskIds])
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

async function eraseCharges(tx: Transaction<Tables>, keys: readonly LookupKey[]): Promise<number> {
  if (keys.length === 0) return 0
  // What went out together is not taken apart: the whole body goes.
  const { numUpdatedRows } = await tx
    .updateTable('charges')
    .set({ body: '' })
    .where(paidFor(keys))
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

/** A request that was not sent yet is given up: its lookups are asked for again without the subject. */
async function dissolveBundles(tx: Transaction<Tables>, keys: readonly LookupKey[], at: Date): Promise<void> {
  const { rows } = await sql<{ key: LookupKey }>`
    select distinct bundle_key as key from lookups where key = any(${[...keys]}) and bundle_key is not null`.execute(
    tx,
  )
  for (const { key } of rows) await dissolve(tx, key, { alone: true }, at)
}

/** Charges that paid for one of these lookups, by itself or together with others. */
function paidFor(keys: readonly LookupKey[]) {
  return sql<boolean>`lookup_key = any(${[...keys]}::text[] || array(
    select bundle_key from bundle_members where bundle_members.lookup_key = any(${[...keys]})))`
}

async function erasePlans(tx: Transaction<Tables>, { marks, lookups, taskIds }: Subject): Promise<number> {
  const named = new Map(marks.map((mark) => [nameOf(mark), mark]))
  const planned = await tx
    .selectFrom('plan_records')
    .select('lookup_key')
    .distinct()
    .where('lookup_key', 'is not', null)
    .execute()
  const keys = planned.flatMap(({ lookup_key: key }) =>
    key !== null && (lookups.includes(key) || isNamed(identifiersOfKey(key), named)) ? [key] : [],
  )
  const { rows } = await sql<{ ordinal: number }>`
    delete from plan_records using plans where plans.id = plan_records.plan_id and (
      plan_records.lookup_key = any(${keys})
      or exists (select 1 from tasks join runs on runs.id = tasks.run_id
        where tasks.id = any(${taskIds.map(String)}::bigint[]) and tasks.record_id = plan_records.record_id
          and runs.connector = plans.connector and runs.entity = plans.entity and plans.kind = 'sync'))
    returning plan_records.ordinal`.execute(tx)
  return rows.length
}

/** Other answers that name the subject: a company's people, a profile's neighbours. */
async function eraseMentions(tx: Transaction<Tables>, marks: readonly Identifier[]): Promise<number> {
  let erased = 0
  for (const needle of needles(marks)) {
    const { rows } = await sql<{ key: LookupKey; answer: Record<string, unknown> }>`
      select key, answer from lookups where answer::text ilike ${like(needle)}`.execute(tx)
    for (const { key, answer } of rows) {
      const { value, isChanged } = scrub(answer, marks)
      if (!isChanged) continue
      await tx
        .updateTable('lookups')
        .set({ answer: JSON.stringify(value) })
        .where('key', '=', key)
        .execute()
      erased += 1
    }
  }
  return erased
}

/** A scan may have been narrowed to the subject: the condition is taken out of what is told of the run. */
async function eraseConditions(tx: Transaction<Tables>, marks: readonly Identifier[]): Promise<number> {
  let erased = 0
  for (const needle of needles(marks)) {
    const pattern = like(needle)
    for (const [table, column] of [
      ['runs', 'source'],
      ['plans', 'job'],
    ] as const) {
      const { rows } = await sql<{ id: string; value: unknown }>`
        select id, ${sql.ref(column)} as value from ${sql.table(table)} where ${sql.ref(column)}::text ilike ${pattern}`.execute(
        tx,
      )
      for (const { id, value } of rows) {
        const { value: clean, isChanged } = scrub(value, marks)
        if (!isChanged) continue
        await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${JSON.stringify(clean)}::jsonb where id = ${id}`.execute(
          tx,
        )
        erased += 1
      }
    }
    await sql`delete from watermarks where filter ilike ${pattern}`.execute(tx)
  }
  return erased
}

/** A pattern that finds the text itself, anywhere. */
function like(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`
}

function needles(marks: readonly Identifier[]): string[] {
  return [
    ...new Set(
      marks.flatMap(({ kind, value }) => {
        if (kind !== 'profile_url') return [value]
        const slug = value.slice(value.indexOf('/') + 1)
        return [slug, encodeURI(slug)]
      }),
    ),
  ]
}

function operationsOf(object: 'company' | 'person'): Operation[] {
  return object === 'company'
    ? ['company.profile', 'company.lookup', 'company.enrich']
    : ['person.profile', 'contact.lookup', 'contact.redeem']
}

function isAbout(key: LookupKey, object: 'company' | 'person'): boolean {
  return operationsOf(object).some((operation) => key.startsWith(`${operation}|`))
}

function nameOf({ kind, value }: Identifier): string {
  return `${kind}|${value}`
}

/** How many answers older than `before` were erased. What open tasks still need stays until they have ended. */
export async function eraseOldAnswers(db: Database, before: Date, limit: number): Promise<number> {
  const { rows } = await sql<{ key: string }>`
    with old as (
      select key from lookups where answer is not null and state = 'answered' and answered_at < ${before}
        and not exists (select 1 from tasks where status in ('queued', 'looking_up', 'ready', 'parked')
          and (waiting_for = lookups.key or lookups.key = any(steps)))
      limit ${limit} for update skip locked
    )
    update lookups set answer = null, fresh_until = least(fresh_until, ${before}) from old where lookups.key = old.key
    returning lookups.key`.execute(db)
  return rows.length
}
