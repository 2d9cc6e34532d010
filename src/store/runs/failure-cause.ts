import { createHash } from 'node:crypto'
import { sql, type RawBuilder } from 'kysely'
import { stopCodes } from '../../domain/error-codes.ts'
import { indefinitely } from '../database/tables/states.ts'
import { isStoppedByPerson } from './parked-runs.ts'

/** The cause that the records of a group have in common. */
export interface FailureCause {
  status: 'parked' | 'rejected'
  /** The error code that parked the lookups (domain/errors.ts); null for rejected records. */
  code: string | null
  reason: string
}

/** The reason of a row of `tasks`, with its lookup joined as `lookups`; of ragged rows of files what they have in common. */
export const parkedCause = causeOf(sql`coalesce(tasks.reason, lookups.reason, 'no reason is known')`)
/** The same for a rejected row, whose lookup says nothing. */
export const rejectedCause = causeOf(sql`coalesce(tasks.reason, 'no reason is known')`)

/** Ragged rows differ in how many cells they lack: the cause is the same, and the place tells the rest. */
export function causeOf(reason: ReturnType<typeof sql>) {
  return sql<string>`regexp_replace(${reason}, '^(line \\d+: )?(too (few|many) cells), \\d+ where the header has \\d+$', '\\2')`
}

/** Returns an id for a cause, to be named in a form or an address. */
export function groupId({ status, code, reason }: FailureCause): string {
  return createHash('sha256')
    .update(JSON.stringify([status, code, reason]))
    .digest('hex')
    .slice(0, 20)
}

/** The runs whose rejected records may be tried again: at most one run of a source is open, else its latest. */
export const lastRuns = sql`select distinct on (fingerprint) id from runs where state != 'planned'
  order by fingerprint, (state in ('scanning', 'working', 'stopped', 'parked')) desc, started_at desc`

/** The last lookup of a row of `tasks`, for which a rejected record waits again. */
export const lastLookup = sql`coalesce(tasks.steps[cardinality(tasks.steps)], tasks.lookup_key)`

/**
 * True for a row of `tasks` and `runs` that a retry takes up. The lookup of a parked record is joined as `owner`: its batch,
 * or itself.
 */
export const mayRetryParked = (connectors: readonly string[]) =>
  sql<boolean>`(tasks.status = 'parked' and owner.state = 'parked' and runs.connector = any(${[...connectors]}::text[])
    and not ${isStoppedByPerson(sql`tasks.run_id`)})`

/**
 * True for a parked lookup that waits until a person mends something. One that waits because its run or all spending was
 * stopped has not failed: a resume takes it up.
 */
export const hasFailed = sql<boolean>`(lookups.due_at >= ${indefinitely}
  and not coalesce(owner.code, lookups.code, '') = any(${[...stopCodes]}::text[]))`

/** Nothing is left with which to retry a forgotten subject. */
export const mayRetryRejected = (connectors: readonly string[]) =>
  sql<boolean>`(tasks.status = 'rejected' and runs.state != 'stopped' and not ${isStoppedByPerson(sql`runs.id`)} and runs.connector = any(${[...connectors]}::text[])
    and runs.id in (select id from last)
    and exists (select from lookups as known where known.key = ${lastLookup} and known.key not like '%|forgotten:%'))`

/**
 * True for a lookup that a skipped record leaves parked. One that waits was asked for again, by a run that stores its record
 * in a moment; a member of a batch waits as long as its batch is parked, for the run that asked last.
 */
export const isLeftBehind = (isOfSkipped: RawBuilder<unknown>) =>
  sql<boolean>`(lookups.state = 'parked' or lookups.state = 'waiting' and lookups.bundle_key is not null and ${isOfSkipped})`
