import { sql } from 'kysely'
import { errorCode } from '../../domain/error-codes.ts'
import type { LookupKey } from '../../domain/keys.ts'
import type { Operation } from '../../domain/words.ts'
import type { OperationPart } from '../database/tables/contract-tables.ts'
import type { Database } from '../database/database.ts'
import { indefinitely } from '../database/tables/states.ts'

export type { OperationPart } from '../database/tables/contract-tables.ts'

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
  /** The first answer that was read as expected; null for a stopped one. */
  confirmedAt: Date | null
}

/** Returns every operation that answers have confirmed or stopped, by name. An operation that was never asked has no row. */
export async function operationStates(db: Database): Promise<OperationState[]> {
  return db
    .selectFrom('operation_states')
    .select(['operation', 'part', 'place', 'state', 'code', 'reason', 'since', 'confirmed_at as confirmedAt'])
    .orderBy('operation')
    .orderBy('part')
    .execute()
}

/** Returns what answers have said of an operation at this address; undefined where none has. */
export async function stateAt(
  tx: Database,
  { operation, part, place }: OperationPlace,
): Promise<OperationState | undefined> {
  return (await operationStates(tx)).find(
    (each) => each.operation === operation && each.part === part && (each.place ?? place) === place,
  )
}

/** Notes that an answer was read as expected, and ends the probe. The date of the first one stays. */
export async function confirm(db: Database, here: OperationPlace, at: Date): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await lockPart(tx, here.operation, here.part)
    await storeConfirmed(tx, here, at)
  })
}

/**
 * Stops one operation, and ends the probe. Its lookups are parked by the process that takes them up next.
 */
export async function stopOperation(
  db: Database,
  here: OperationPlace,
  cause: { code: string; reason: string },
  at: Date,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await lockPart(tx, here.operation, here.part)
    await storeStopped(tx, here, cause, at)
  })
}

export async function storeConfirmed(
  tx: Database,
  { operation, part, place }: OperationPlace,
  at: Date,
): Promise<void> {
  const isSame = sql`(${isHere(place)} and operation_states.state = 'confirmed')`
  await sql`
    insert into operation_states (operation, part, place, state, since, confirmed_at)
    values (${operation}, ${part}, ${place}, 'confirmed', ${at}, ${at})
    on conflict (operation, part) do update set place = excluded.place, state = 'confirmed', code = null, reason = null,
      since = case when ${isSame} then operation_states.since else excluded.since end,
      confirmed_at = case when ${isSame} then operation_states.confirmed_at else excluded.confirmed_at end`.execute(
    tx,
  )
  await deleteProbe(tx, operation, part)
}

export async function storeStopped(
  tx: Database,
  { operation, part, place }: OperationPlace,
  { code, reason }: { code: string; reason: string },
  at: Date,
): Promise<void> {
  const row = { place, state: 'stopped', code, reason, since: at, confirmed_at: null } as const
  await tx
    .insertInto('operation_states')
    .values({ operation, part, ...row })
    .onConflict((conflict) => conflict.columns(['operation', 'part']).doUpdateSet(row))
    .execute()
  await deleteProbe(tx, operation, part)
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
      .where('code', '=', errorCode.operationStopped)
      // One that no record waits for any more would be bought for nothing. Who asks for it again makes it due.
      .where(isAwaited)
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
      where state = 'parked' and code = ${errorCode.operationStopped} and due_at = ${indefinitely} and ${isAwaited} and not exists (
        select from operation_states join here using (operation, part)
        where operation_states.operation = lookups.operation and operation_states.state = 'stopped'
          and (operation_states.place is null or operation_states.place = here.place))
      returning key
    )
    select count(*)::int as resumed from resumed`.execute(db)
  return rows[0]?.resumed ?? 0
}

/** The first key of the advisory locks for one operation each. The number is arbitrary, and the same in every process. */
const lockSpace = 7_290_019

export const lockPart = (tx: Database, operation: Operation, part: OperationPart) =>
  sql`select pg_advisory_xact_lock(${lockSpace}, hashtext(${`${operation} ${part}`}))`.execute(tx)

/** True for a lookup, or a batch of them, that a record waits for. */
const isAwaited = sql<boolean>`exists (select from tasks join lookups as asked on asked.key = tasks.waiting_for
  where asked.key = lookups.key or asked.bundle_key = lookups.key)`

const isHere = (place: string) =>
  sql<boolean>`(operation_states.place is null or operation_states.place = ${place})`

async function deleteProbe(tx: Database, operation: Operation, part: OperationPart): Promise<void> {
  await tx
    .deleteFrom('operation_probes')
    .where('operation', '=', operation)
    .where('part', '=', part)
    .execute()
}

/** Returns the lookups among these that are parked because their operation is stopped, alone or in a batch, with the reason. */
export async function stoppedAmong(
  db: Database,
  keys: readonly LookupKey[],
): Promise<Map<LookupKey, string>> {
  if (keys.length === 0) return new Map()
  const { rows } = await sql<{ key: LookupKey; reason: string }>`
    select asked.key, coalesce(held.reason, 'its operation is stopped') as reason
    from lookups as asked join lookups as held on held.key = coalesce(asked.bundle_key, asked.key)
    where asked.key = any(${[...keys]}::text[]) and held.state = 'parked' and held.code = ${errorCode.operationStopped}`.execute(
    db,
  )
  return new Map(rows.map(({ key, reason }) => [key, reason]))
}
