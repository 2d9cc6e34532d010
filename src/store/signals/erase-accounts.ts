import { sql } from 'kysely'
import type { Identity } from '../../domain/record.ts'
import { recordIdentities, type RecordIdentity } from '../../domain/subjects/record-identities.ts'
import type { Database } from '../database/database.ts'

/** A subject as the accounts of pipelines are found. */
interface WatchedSubject {
  /** Those that are the subject's alone. */
  identities: readonly RecordIdentity[]
  taskIds: readonly bigint[]
  /** Patterns of texts that name the subject: a signal whose title or link is like one of them tells of it. */
  patterns: readonly string[]
  hosts: readonly string[]
}

const pageSize = 2_000

/**
 * Erases a subject from what is watched, and returns the number of accounts and signals. An account goes with its signals, checks and
 * scores; where one company is watched twice, both go. Of a signal of another account that names the subject title and link go, while
 * its type, day and points stay: what was counted still adds up.
 *
 * Crash windows are those of the erasure, in whose transaction it is. A run of signals that holds answers about such an account finds
 * it gone when it takes them in, and keeps those of the others.
 */
export async function eraseAccounts(tx: Database, subject: WatchedSubject): Promise<number> {
  const ids = await accountsOf(tx, subject)
  const { rows: gone } = await sql<{ signals: number }>`
    select count(*)::int as signals from signals where account_id = any(${ids}::bigint[])`.execute(tx)
  await sql`delete from signal_accounts where id = any(${ids}::bigint[])`.execute(tx)
  let mentions = 0
  for (const pattern of subject.patterns) {
    const { rows } = await sql`
      update signals set title = null, link = null where title ilike ${pattern} or link ilike ${pattern} returning 1`.execute(
      tx,
    )
    mentions += rows.length
  }
  return ids.length + (gone[0]?.signals ?? 0) + mentions
}

/**
 * Returns the ids of the accounts that are the subject, in the order in which they are locked. An account that is known by its domain alone
 * is found by the id of its company, which the answer to its search tells beside the profile: it must be asked before answers are erased.
 */
async function accountsOf(
  tx: Database,
  { identities, taskIds, patterns, hosts }: WatchedSubject,
): Promise<string[]> {
  const own = new Set(identities.map(({ kind, value }) => `${kind}|${value}`))
  const isOwn = (identity: Identity) =>
    recordIdentities({ object: 'company', identity }, { hosts }).some(({ kind, value }) =>
      own.has(`${kind}|${value}`),
    )
  const found: string[] = []
  for (let after = '0'; own.size > 0;) {
    const { rows } = await sql<{ id: string; identity: Identity }>`
      select id::text, identity from signal_accounts where id > ${after}::bigint order by id limit ${pageSize}`.execute(
      tx,
    )
    for (const { id, identity } of rows) if (isOwn(identity)) found.push(id)
    const last = rows.at(-1)
    if (!last || rows.length < pageSize) break
    after = last.id
  }
  const told = await companiesTold(tx, patterns)
  const serviceIds = told.flatMap(({ serviceId, profileUrl }) => (isOwn({ profileUrl }) ? [serviceId] : []))
  const { rows } = await sql<{ id: string }>`
    with own as (
      select id, service_id from signal_accounts where id = any(${found}::bigint[])
        or (connector, entity, record_id) in (
          select runs.connector, runs.entity, tasks.record_id from tasks join runs on runs.id = tasks.run_id
          where tasks.id = any(${taskIds.map(String)}::bigint[])
          union
          select connector, entity, record_id from record_identities
            join jsonb_to_recordset(${JSON.stringify(identities)}::jsonb) as wanted (kind text, value text) using (kind, value))
        or service_id = any(${serviceIds}::text[])
    )
    select id::text from signal_accounts where id in (select id from own)
      or service_id in (select service_id from own where service_id is not null)
    order by id for update`.execute(tx)
  return rows.map(({ id }) => id)
}

interface ToldCompany {
  serviceId: string
  profileUrl: string
}

/** Returns the companies of the answers that are like one of these patterns. */
async function companiesTold(tx: Database, patterns: readonly string[]): Promise<ToldCompany[]> {
  const found: ToldCompany[] = []
  for (const pattern of patterns) {
    const { rows } = await sql<ToldCompany>`
      select distinct row ->> 'domain_search_id' as "serviceId", row ->> 'profnet_url' as "profileUrl" from lookups,
        jsonb_path_query(answer, 'strict $.** ? (exists (@.domain_search_id) && exists (@.profnet_url))') as row
      where operation = 'company.search' and answer::text ilike ${pattern}`.execute(tx)
    found.push(...rows.filter(({ serviceId, profileUrl }) => serviceId !== null && profileUrl !== null))
  }
  return found
}
