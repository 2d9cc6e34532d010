import { sql } from 'kysely'
import { openChargeStates } from '../../domain/payment.ts'
import type { LookupKey } from '../../domain/keys.ts'
import type { Operation } from '../../domain/words.ts'
import type { OperationPart } from '../database/contract-tables.ts'
import type { Database } from '../database/database.ts'
import { indefinitely } from '../database/states.ts'

export type { OperationPart } from '../database/contract-tables.ts'

/** A request of an operation at an address: what an answer confirms. */
export interface OperationPlace {
  operation: Operation
  part: OperationPart
  /** Method and address. What answers have said of another address does not hold for this one. */
  place: string
}

export interface OperationState {
  operation: Operation
  part: OperationPart
  /** Null: from answers older than the record of places. */
  place: string | null
  state: 'confirmed' | 'stopped'
  code: string | null
  reason: string | null
  since: Date
  /** The first answer that was read as expected. */
  confirmedAt: Date | null
}

/** The code that parks the lookups of a stopped operation. */
export const operationStopped = 'operation_stopped'

/** Returns every operation that answers have confirmed or stopped, by name. An operation that was never asked has no row. */
export async function operationStates(db: Database): Promise<OperationState[]> {
  return db
    .selectFrom('operation_states')
    .select(['operation', 'part', 'place', 'state', 'code', 'reason', 'since', 'confirmed_at as confirmedAt'])
    .orderBy('operation')
    .orderBy('part')
    .execute()
}

/** Notes that an answer was read as expected, and ends the probe. The date of the first one stays. */
export async function confirm(
  db: Database,
  { operation, part, place }: OperationPlace,
  at: Date,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await lockPart(tx, operation, part)
    await sql`
      insert into operation_states (operation, part, place, state, since, confirmed_at)
      values (${operation}, ${part}, ${place}, 'confirmed', ${at}, ${at})
      on conflict (operation, part) do update set
        place = excluded.place, state = 'confirmed', code = null, reason = null,
        since = case when ${isHere(place)} and operation_states.state = 'confirmed' then operation_states.since else excluded.since end,
        confirmed_at = case when ${isHere(place)} then coalesce(operation_states.confirmed_at, excluded.confirmed_at) else excluded.confirmed_at end`.execute(
      tx,
    )
    await deleteProbe(tx, operation, part)
  })
}

/**
 * Stops one operation, and ends the probe. Its lookups are parked by the process that takes them up next. An answer that was
 * read as expected before stays noted with its date.
 */
export async function stopOperation(
  db: Database,
  { operation, part, place }: OperationPlace,
  { code, reason }: { code: string; reason: string },
  at: Date,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await lockPart(tx, operation, part)
    await sql`
      insert into operation_states (operation, part, place, state, code, reason, since)
      values (${operation}, ${part}, ${place}, 'stopped', ${code}, ${reason}, ${at})
      on conflict (operation, part) do update set
        place = excluded.place, state = 'stopped', code = excluded.code, reason = excluded.reason, since = excluded.since,
        confirmed_at = case when ${isHere(place)} then operation_states.confirmed_at end`.execute(tx)
    await deleteProbe(tx, operation, part)
  })
}

/**
 * Lets a stopped operation be tried again, with one request: on probation as before its first answer. Makes its parked lookups
 * due, those of them that a record still waits for. Returns the number of these, or undefined when it was not stopped.
 */
export async function resumeOperation(
  db: Database,
  operation: Operation,
  at: Date,
): Promise<number | undefined> {
  return db.transaction().execute(async (tx) => {
    for (const part of ['', 'answer', 'batch'] as const) await lockPart(tx, operation, part)
    const { rows } = await sql`
      delete from operation_states where operation = ${operation} and state = 'stopped' returning part`.execute(
      tx,
    )
    if (rows.length === 0) return undefined
    const { numUpdatedRows } = await tx
      .updateTable('lookups')
      .set({ due_at: at, queued_until: null })
      .where('operation', '=', operation)
      .where('state', '=', 'parked')
      .where('code', '=', operationStopped)
      .executeTakeFirst()
    return Number(numUpdatedRows)
  })
}

/**
 * Makes the lookups due that are parked for operations which are not stopped any more, because the settings give them another
 * address. `places` are the addresses of now. Returns how many there were.
 */
export async function unparkMoved(
  db: Database,
  places: readonly OperationPlace[],
  at: Date,
): Promise<number> {
  const { rows } = await sql<{ resumed: number }>`
    with here as (
      select * from jsonb_to_recordset(${JSON.stringify(places)}::jsonb) as here (operation text, part text, place text)
    ), resumed as (
      update lookups set due_at = ${at}, queued_until = null
      where state = 'parked' and code = ${operationStopped} and due_at = ${indefinitely} and not exists (
        select from operation_states join here using (operation, part)
        where operation_states.operation = lookups.operation and operation_states.state = 'stopped'
          and (operation_states.place is null or operation_states.place = here.place))
      returning key
    )
    select count(*)::int as resumed from resumed`.execute(db)
  return rows[0]?.resumed ?? 0
}

/** The outcome of asking for the only request of an operation: granted, held by another lookup, or not needed any more. */
export type Probe = 'taken' | 'busy' | OperationState

/**
 * Takes the only request of an operation that is neither confirmed nor stopped, for one lookup and until a time. The lookup
 * that has it takes it again. Another one gets it when that time is over, unless the payment of the first is still open and its
 * lookup is being worked on: its answer may be an unreadable one, and only one of those is paid for.
 */
export async function takeProbe(
  db: Database,
  { operation, part, place }: OperationPlace,
  { key, until, now }: { key: LookupKey; until: Date; now: Date },
): Promise<Probe> {
  return db.transaction().execute(async (tx) => {
    // A statement of its own: the next one sees what the holder before has stored.
    await lockPart(tx, operation, part)
    const known = (await operationStates(tx)).find(
      (each) => each.operation === operation && each.part === part && (each.place ?? place) === place,
    )
    if (known) return known
    const { rows } = await sql`
      insert into operation_probes (operation, part, lookup_key, until) values (${operation}, ${part}, ${key}, ${until})
      on conflict (operation, part) do update set lookup_key = excluded.lookup_key, until = excluded.until
      where operation_probes.lookup_key = excluded.lookup_key or operation_probes.until <= ${now} and not exists (
        select from charges join lookups on lookups.key = charges.lookup_key
        where charges.lookup_key = operation_probes.lookup_key and charges.state = any(${[...openChargeStates]}::text[])
          and lookups.state = 'waiting')
      returning lookup_key`.execute(tx)
    return rows.length > 0 ? 'taken' : 'busy'
  })
}

/** Gives the only request back after an end that neither confirms nor stops. Does nothing when another lookup has it. */
export async function releaseProbe(
  db: Database,
  { operation, part }: Pick<OperationPlace, 'operation' | 'part'>,
  key: LookupKey,
): Promise<void> {
  await db
    .deleteFrom('operation_probes')
    .where('operation', '=', operation)
    .where('part', '=', part)
    .where('lookup_key', '=', key)
    .execute()
}

/** The first key of the advisory locks for one operation each. The number is arbitrary, and the same in every process. */
const lockSpace = 7_290_019

const lockPart = (tx: Database, operation: Operation, part: OperationPart) =>
  sql`select pg_advisory_xact_lock(${lockSpace}, hashtext(${`${operation} ${part}`}))`.execute(tx)

const isHere = (place: string) =>
  sql<boolean>`(operation_states.place is null or operation_states.place = ${place})`

async function deleteProbe(tx: Database, operation: Operation, part: OperationPart): Promise<void> {
  await tx
    .deleteFrom('operation_probes')
    .where('operation', '=', operation)
    .where('part', '=', part)
    .execute()
}
