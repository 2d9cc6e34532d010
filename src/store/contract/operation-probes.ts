import { sql } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import { errorCode } from '../../domain/error-codes.ts'
import { openChargeStates } from '../../domain/payment.ts'
import type { Database } from '../database/database.ts'
import {
  lockPart,
  stateAt,
  storeConfirmed,
  storeStopped,
  type OperationPlace,
  type OperationState,
} from './operation-states.ts'

/** The outcome of asking for the only request of an operation: granted, held by another lookup, or not needed any more. */
export type Probe = 'taken' | { state: 'busy'; holder: LookupKey } | OperationState

/**
 * Takes the only request of an operation that is neither confirmed nor stopped, for one lookup and until a time. The lookup
 * that has it takes it again. Another one gets it when that time is over, unless the payment of the first is still open, may be
 * sent again and its lookup is being worked on: its answer may be an unreadable one, and only one of those is paid for. Where the holder's answer
 * is in the ledger and the process that stored it has died, the operation is confirmed or stopped (as `unreadable` says) by it.
 */
export async function takeProbe(
  db: Database,
  here: OperationPlace,
  { key, until, now, unreadable }: Taking,
): Promise<Probe> {
  const { operation, part } = here
  return db.transaction().execute(async (tx) => {
    // A statement of its own: the next one sees what the holder before has stored.
    await lockPart(tx, operation, part)
    const known = await stateAt(tx, here)
    if (known) return known
    const holder = await holderOf(tx, here, now)
    if (holder && holder.key !== key) {
      if (holder.reading) {
        if (holder.reading === 'read') await storeConfirmed(tx, here, now)
        else await storeStopped(tx, here, unreadable, now)
        return (await stateAt(tx, here)) as OperationState
      }
      if (holder.until > now || holder.isPaying) return { state: 'busy', holder: holder.key }
    }
    const row = { lookup_key: key, until }
    await tx
      .insertInto('operation_probes')
      .values({ operation, part, ...row })
      .onConflict((conflict) => conflict.columns(['operation', 'part']).doUpdateSet(row))
      .execute()
    return 'taken'
  })
}

interface Taking {
  key: LookupKey
  until: Date
  now: Date
  unreadable: { code: string; reason: string }
}

/**
 * Lets others ask for the only request at once, after an end that neither confirms nor stops. The row stays, so that they see
 * what became of its lookup. Does nothing when another lookup has it.
 */
export async function releaseProbe(
  db: Database,
  { operation, part }: Pick<OperationPlace, 'operation' | 'part'>,
  key: LookupKey,
  now: Date,
): Promise<void> {
  await db
    .updateTable('operation_probes')
    .set({ until: now })
    .where('operation', '=', operation)
    .where('part', '=', part)
    .where('lookup_key', '=', key)
    .execute()
}

interface Holder {
  key: LookupKey
  until: Date
  /** True while its payment is open and its lookup is worked on. */
  isPaying: boolean
  /** The reading of its answer, where one was stored since it took the probe: a lookup is waiting when it does. */
  reading: 'read' | 'unreadable' | null
}

/** A charge after a 408 is sent again within five minutes, unless the process that does it has been killed. */
const longestBetweenMs = 600_000

/**
 * A charge by API key is never sent again but after a 408: when the time of its request is over it will have no answer. A killed
 * command leaves one that nobody works on, which must not hold the operation until a person closes it.
 */
async function holderOf(
  tx: Database,
  { operation, part }: OperationPlace,
  now: Date,
): Promise<Holder | undefined> {
  const workedOnSince = new Date(now.getTime() - longestBetweenMs)
  const { rows } = await sql<Holder>`
    select lookups.key, until,
      lookups.state = 'waiting' and exists (select from charges
        where lookup_key = lookups.key and state = any(${[...openChargeStates]}::text[]) and (protocol <> 'api_key'
          or (charges.state = 'in_doubt' and charges.reason = ${errorCode.notInTime} and lookups.due_at > ${workedOnSince}::timestamptz))) as "isPaying",
      case
        when part = 'batch' and query_id is not null then 'read'
        when lookups.state <> 'answered' then null
        when part = '' then case outcome when 'unreadable' then 'unreadable' when 'failed' then null else 'read' end
        when exists (select from bundle_members join lookups as member on member.key = bundle_members.lookup_key
          where bundle_members.bundle_key = lookups.key and member.outcome in ('found', 'not_found')) then 'read'
        else 'unreadable'
      end as reading
    from operation_probes join lookups on lookups.key = lookup_key
    where operation_probes.operation = ${operation} and part = ${part}`.execute(tx)
  return rows[0]
}
