import { sql, type Transaction } from 'kysely'
import { ConfigError } from '../../domain/errors.ts'
import { forgottenKey } from '../../domain/subjects/forgotten.ts'
import { defaultNetworkHosts, type LookupKey } from '../../domain/keys.ts'
import { kindOfName } from '../../domain/subjects/names.ts'
import type { Database } from '../database/database.ts'
import type { Tables } from '../database/tables/schema.ts'
import { eraseIndexed } from '../identities/erase-indexed.ts'
import { dissolveBatch } from '../ledger/batches.ts'
import { fieldsOfPatch } from '../packed/patch-fields.ts'
import { eraseExclusions } from '../lists/list-exclusions.ts'
import { eraseCreated } from '../lists/erase-created.ts'
import { eraseReviews } from '../lists/erase-reviews.ts'
import { eraseCompanyFetches, eraseListRows } from '../lists/erase-rows.ts'
import { eraseMatches } from '../matches/matches.ts'
import { eraseSeen } from '../messages/erase-seen.ts'
import { eraseReferences } from '../lists/list-references.ts'
import { eraseNotes } from '../notes/erase-notes.ts'
import { eraseChampions } from '../champions/champions.ts'
import { eraseAccounts } from '../signals/erase-accounts.ts'
import { ofTasks, unpackIntents, writingFrom } from '../writes/open-intents.ts'
import { cutTies } from './cut-ties.ts'
import { eraseCharges, paidFor } from './erase-charges.ts'
import { erasePlans } from './erase-plans.ts'
import { eraseFromActions } from './erase-actions.ts'
import { eraseConditions, eraseMentions } from './erase-mentions.ts'
import { containing, type Subject } from './find-subject.ts'
import { needlesOf } from './needles.ts'
import { ownIdentities } from './subject-records.ts'

/** The number of rows changed in each table. */
export interface Erased {
  lookups: number
  /** Answers about others that name the subject. */
  mentions: number
  tasks: number
  charges: number
  fieldWrites: number
  planRecords: number
  runs: number
  /** Entries of the index of records. */
  recordIdentities: number
  /** Records that lists made or planned to make, and companies that monitors matched. */
  createdRecords: number
  /** Answers of people about rows of lists. */
  listReviews: number
  /** Notes and tasks that were written into CRMs, or were to be. */
  crmNotes: number
  /** Rows of lists, as their fetches keep them, and references of their similar searches. */
  listRows: number
  /** People whose jobs are checked again, and moves to a forgotten employer. */
  champions: number
  /** Accounts of pipelines, their signals, and signals of others that name the subject. */
  signals: number
}

/**
 * Erases a subject. Its lookups keep their rows under a random key, and its charges keep their amounts and nonces, so that
 * the accounts still add up. Everything from which a name could be tried against a nonce goes: the lookup's salt, and the
 * server's challenge, which may hold a digest of the request.
 *
 * Crash windows: a kill before the commit leaves the subject as it was. After it, a worker that was about to pay finds the
 * row gone when it reserves, and its job ends. The same subject wanted again begins with a new row and a new salt, so that
 * no nonce is derived twice. Throws ConfigError while a payment for the subject is open, because its bytes may have to be
 * sent again.
 */
export async function eraseSubject(
  db: Database,
  subject: Subject,
  options: EraseOptions & {
    /** Notes the erasure in the same transaction: neither is there without the other. */
    note?: ((tx: Database, erased: Erased) => Promise<void>) | undefined
  },
): Promise<Erased> {
  return db.transaction().execute(async (tx) => {
    await lockLookups(tx, subject)
    if (await hasOpenPayment(tx, subject.lookups)) throw paymentOpen()
    const erased = await eraseIn(tx, subject, options)
    await options.note?.(tx, erased)
    return erased
  })
}

/**
 * Returns what `eraseSubject` would erase now, and the reason for which it would refuse: it erases the subject in a
 * transaction and takes that back, so that both cannot differ. Killed at any place, the database takes it back itself.
 */
export async function rehearseErasure(
  db: Database,
  subject: Subject,
  options: EraseOptions,
): Promise<{ erased: Erased; refusal: ConfigError | undefined }> {
  const tx = await db.startTransaction().execute()
  try {
    await lockLookups(tx, subject)
    const refusal = (await hasOpenPayment(tx, subject.lookups)) ? paymentOpen() : undefined
    return { erased: await eraseIn(tx, subject, options), refusal }
  } finally {
    await tx.rollback().execute()
  }
}

interface EraseOptions {
  now: () => Date
  token: () => string
  /** The hosts of the network. Default: the published ones. */
  hosts?: readonly string[] | undefined
}

/** Returns the domains that are the subject's alone: those of a company. */
function ownDomains({ names }: Subject): string[] {
  return names.filter((name) => kindOfName(name) === 'domain')
}

function patternsOf(subject: Subject): string[] {
  return [...needlesOf(subject.identifiers), ...ownDomains(subject)].map(containing)
}

/** Locks the rows before the check for open payments: a worker that pays for one of these lookups locks the same rows. */
async function lockLookups(tx: Transaction<Tables>, { lookups }: Subject): Promise<void> {
  await sql`
    select from lookups where key = any(${lookups})
      or key = any(array(select bundle_key from bundle_members where lookup_key = any(${lookups})))
    order by key collate "C" for update`.execute(tx)
}

async function eraseIn(
  tx: Transaction<Tables>,
  subject: Subject,
  { now, token, hosts = defaultNetworkHosts }: EraseOptions,
): Promise<Erased> {
  const names = new Map(subject.lookups.map((key) => [key, forgottenKey(key, token())]))
  const identities = ownIdentities(subject, hosts)
  await dissolveBatches(tx, subject.lookups, now())
  await lockTasks(tx, subject.taskIds)
  await eraseExclusions(tx, identities)
  await eraseCompanyFetches(tx, identities, token)
  const erased = {
    // While the index and the tasks still name the records.
    crmNotes: await eraseNotes(tx, { identities, taskIds: subject.taskIds }, { now, token }),
    signals: await eraseAccounts(tx, {
      identities,
      taskIds: subject.taskIds,
      patterns: patternsOf(subject),
      hosts,
    }),
    champions: await eraseChampions(tx, { identities, taskIds: subject.taskIds }),
    listReviews: await eraseReviews(tx, { identities, taskIds: subject.taskIds }),
    recordIdentities: await eraseIndexed(tx, subject, identities),
    listRows: (await eraseListRows(tx, identities)) + (await eraseReferences(tx, identities)),
    createdRecords:
      (await eraseCreated(tx, { identities, taskIds: subject.taskIds }, { now, token })) +
      (await eraseMatches(tx, identities, now)) +
      (await eraseSeen(tx, identities)),
    planRecords: await erasePlans(tx, subject),
    charges: await eraseCharges(tx, subject.lookups),
    fieldWrites: await eraseFieldWrites(tx, subject.taskIds),
    tasks: await eraseTasks(tx, subject.taskIds, now(), token),
    lookups: await eraseLookups(tx, names),
    mentions:
      (await eraseMentions(tx, subject.identifiers, ownDomains(subject))) +
      (await eraseFromActions(tx, subject.identifiers)),
    runs: await eraseConditions(tx, subject.identifiers),
  }
  // Last, as where names are learned: whoever stores an answer locks its lookup first and its names last.
  await eraseNames(tx, subject)
  return erased
}

/** Locks the tasks before their writes are erased: a worker that stores an intent for one of them waits, and then finds it forgotten. */
async function lockTasks(tx: Transaction<Tables>, ids: readonly bigint[]): Promise<void> {
  await sql`select from tasks where id = any(${ids.map(String)}::bigint[]) order by id for update`.execute(tx)
}

async function hasOpenPayment(tx: Transaction<Tables>, keys: readonly LookupKey[]): Promise<boolean> {
  if (keys.length === 0) return false
  const { rows: open } = await sql`
    select id from charges where ${paidFor(keys)} and state in ('journaled', 'sent', 'in_doubt')
    union all
    select key from lookups where query_id is not null and state != 'answered'
      and key in (select bundle_key from bundle_members where lookup_key = any(${[...keys]}))
    limit 1`.execute(tx)
  return open.length > 0
}

function paymentOpen(): ConfigError {
  return new ConfigError(
    'payment_open',
    'a payment for this subject is still open, and its request may have to be sent again. `paydirt reconcile` settles it; then run forget again',
  )
}

export async function eraseLookups(
  tx: Transaction<Tables>,
  names: Map<LookupKey, LookupKey>,
): Promise<number> {
  if (names.size === 0) return 0
  const pairs = JSON.stringify([...names].map(([old, name]) => ({ old, name })))
  await unpackIntents(tx, writingFrom([...names.keys()]))
  for (const table of ['refusals', 'field_writes'] as const) {
    await sql`
      update ${sql.table(table)} as named_row set lookup_key = named.name
      from jsonb_to_recordset(${pairs}::jsonb) as named (old text, name text)
      where named_row.lookup_key = named.old`.execute(tx)
  }
  // The run of a single call is found by its lookup (src/app/service/call-run.ts).
  await sql`
    update runs set fingerprint = replace(runs.fingerprint, named.old, named.name)
    from jsonb_to_recordset(${pairs}::jsonb) as named (old text, name text)
    where runs.trigger = 'call' and (runs.fingerprint = 'call|' || named.old
      or starts_with(runs.fingerprint, 'call|' || named.old || '|'))`.execute(tx)
  // Foreign keys carry the new name to charges. No time of this act: the subject's tasks have it.
  const { rows } = await sql<{ key: string }>`
    update lookups set key = named.name, salt = null, request = '{}', answer = null, queued_until = null,
      fresh_until = least(fresh_until, answered_at),
      state = case when state = 'answered' then state else 'failed' end,
      reason = case when state = 'answered' then null else 'forgotten' end
    from jsonb_to_recordset(${pairs}::jsonb) as named (old text, name text)
    where lookups.key = named.old returning lookups.key`.execute(tx)
  return rows.length
}

export async function eraseTasks(
  tx: Transaction<Tables>,
  ids: readonly bigint[],
  at: Date,
  token: () => string,
): Promise<number> {
  if (ids.length === 0) return 0
  await sql`delete from task_words where task_id = any(${ids.map(String)}::bigint[])`.execute(tx)
  // Field names stay, because reports count them.
  const { rows } = await sql<{ id: bigint }>`
    update tasks set identity = '{}', updated_at = ${at},
      patch = (select jsonb_object_agg(field, '{"clear": true}'::jsonb) from ${fieldsOfPatch(sql`patch`)} as named (field)),
      waiting_for = case when status in ('looking_up', 'parked') then null else waiting_for end,
      reason = case when status in ('queued', 'looking_up', 'parked', 'ready') then 'forgotten' else reason end,
      status = case when status in ('queued', 'looking_up', 'parked', 'ready') then 'skipped' else status end
    where id = any(${ids.map(String)}::bigint[]) returning id`.execute(tx)
  await cutTies(tx, ids, token)
  return rows.length
}

export async function eraseFieldWrites(tx: Transaction<Tables>, taskIds: readonly bigint[]): Promise<number> {
  if (taskIds.length === 0) return 0
  await unpackIntents(tx, ofTasks(taskIds))
  const { numUpdatedRows } = await tx
    .updateTable('field_writes')
    .set({ old_value: null, old_raw: null, new_value: null })
    .where('task_id', 'in', [...taskIds])
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

async function eraseNames(tx: Transaction<Tables>, { names, contested }: Subject): Promise<void> {
  if (names.length > 0)
    await sql`delete from subject_names where name = any(${names}::text[]) or subject = any(${names}::text[])`.execute(
      tx,
    )
  if (contested.length > 0)
    await sql`delete from subject_names where name = any(${contested}::text[])
      and (subject is null or name like 'uid:%@%')`.execute(tx)
}

/** Dissolves batches that were not sent yet. Their other lookups are asked for again, without the subject. */
async function dissolveBatches(tx: Transaction<Tables>, keys: readonly LookupKey[], at: Date): Promise<void> {
  const { rows } = await sql<{ key: LookupKey }>`
    select distinct bundle_key as key from lookups where key = any(${[...keys]}) and bundle_key is not null`.execute(
    tx,
  )
  for (const { key } of rows) await dissolveBatch(tx, key, { alone: true }, at)
}
