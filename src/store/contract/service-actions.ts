import { sql, type Selectable } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import type { LookupRequest } from '../../domain/record.ts'
import type { Operation } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'
import { storableJson } from '../database/parameters.ts'
import type { Tables } from '../database/tables/schema.ts'
import { indefinitely } from '../database/tables/states.ts'

/**
 * A change at the service that a person has ordered.
 *
 *     intent ──markActionSent──▶ sent ──────────▶ done
 *       ▲                         │                ▲
 *       │                         ▼                │ a reading found it
 *       └──not carried out──── in_doubt ───────────┘
 *
 * `intent` is the permission to send once: whoever moves it to `sent` may send, and nobody else.
 */
export interface ServiceAction {
  id: string
  operation: Operation
  digest: string
  /** Counts the intended repeats of one action, from 1 on. */
  place: number
  method: string
  path: string
  /** The body that is sent, without its secrets. */
  body: Record<string, unknown>
  state: 'intent' | 'sent' | 'done' | 'in_doubt'
  lookupKey: LookupKey
  /** The answer of the service, or what a reading has found; null for a refused action. */
  answer: Record<string, unknown> | null
  /** Why it is in doubt, was refused, or was not sent yet. */
  problem: string | null
  createdAt: Date
  sentAt: Date | null
  endedAt: Date | null
}

export type NewAction = Pick<
  ServiceAction,
  'operation' | 'digest' | 'place' | 'method' | 'path' | 'body' | 'lookupKey'
>

/** The code of lookups that no worker takes up: their command sends them. */
export const sentByCommand = 'action'

/**
 * Journals the intent with its lookup. Of two processes with the same intent one stores it, and both get it. The lookup is
 * parked for good, so that no worker ever sends it.
 */
export async function journalIntent(
  db: Database,
  action: NewAction,
  run: { id: string; connector: string },
  at: Date,
): Promise<ServiceAction> {
  return db.transaction().execute(async (tx) => {
    const { operation, digest, place, method, path, body, lookupKey: lookup_key } = action
    await holdLookup(
      tx,
      { key: lookup_key, operation, request: body as LookupRequest, reason: 'sent by its command' },
      run,
    )
    await tx
      .insertInto('service_actions')
      .values({
        operation,
        digest,
        place: BigInt(place),
        method,
        path,
        body: storableJson(body),
        state: 'intent',
        lookup_key,
        created_at: at,
      })
      .onConflict((conflict) => conflict.columns(['operation', 'digest', 'place']).doNothing())
      .execute()
    return (await actionsOf(tx, operation, digest)).find((each) => each.place === place)!
  })
}

/** Stores a lookup that no worker takes up; one that is there goes to this run, ready to be bought once more. */
export async function holdLookup(
  db: Database,
  lookup: { key: LookupKey; operation: Operation; request: LookupRequest; reason: string },
  run: { id: string; connector: string },
): Promise<void> {
  const { key, operation, request, reason } = lookup
  await sql`
    insert into lookups (key, operation, request, state, run_id, connector, hot, due_at, code, reason)
    values (${key}, ${operation}, ${storableJson(request)}::jsonb, 'parked', ${run.id}, ${run.connector}, true, ${indefinitely}, ${sentByCommand}, ${reason})
    on conflict (key) do update set run_id = excluded.run_id, connector = excluded.connector,
      state = case when lookups.state = 'answered' then lookups.state else 'parked' end,
      due_at = excluded.due_at, code = excluded.code, reason = excluded.reason`.execute(db)
}

/** Returns the actions with one request, in the order of their repeats. */
export async function actionsOf(
  db: Database,
  operation: Operation,
  digest: string,
): Promise<ServiceAction[]> {
  const rows = await db
    .selectFrom('service_actions')
    .selectAll()
    .where('operation', '=', operation)
    .where('digest', '=', digest)
    .orderBy('place')
    .execute()
  return rows.map(toAction)
}

/** Returns what the done actions of an operation were answered. */
export async function answersOfDone(db: Database, operation: Operation): Promise<ServiceAction[]> {
  const rows = await db
    .selectFrom('service_actions')
    .selectAll()
    .where('operation', '=', operation)
    .where('state', '=', 'done')
    .execute()
  return rows.map(toAction)
}

/** Returns the actions that are not finished and were not sent again on purpose, oldest first. */
export async function unfinishedActions(db: Database): Promise<ServiceAction[]> {
  const rows = await db
    .selectFrom('service_actions as action')
    .selectAll()
    .where('state', 'in', ['intent', 'sent', 'in_doubt'])
    .where(
      sql<boolean>`not exists (select from service_actions as later
        where later.operation = action.operation and later.digest = action.digest and later.place > action.place)`,
    )
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(toAction)
}

/**
 * Takes the permission to send. Durable before the first byte leaves. Returns false when another process has taken it, or the
 * action has ended.
 */
export async function markActionSent(db: Database, id: string, at: Date): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('service_actions')
    .set({ state: 'sent', sent_at: at, problem: null })
    .where('id', '=', BigInt(id))
    .where('state', '=', 'intent')
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Gives the permission back: it is certain that nothing left, or that the service refused to act. */
export async function returnToIntent(
  db: Database,
  { id, sentAt }: Pick<ServiceAction, 'id' | 'sentAt'>,
  problem: string,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('service_actions')
    .set({ state: 'intent', sent_at: null, problem })
    .where('id', '=', BigInt(id))
    .where('state', 'in', ['sent', 'in_doubt'])
    // One of two that have read the same gets it.
    .where('sent_at', '=', sentAt)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Notes that nobody can tell yet whether it was carried out. */
export async function markInDoubt(db: Database, id: string, problem: string): Promise<void> {
  await db
    .updateTable('service_actions')
    .set({ state: 'in_doubt', problem })
    .where('id', '=', BigInt(id))
    .where('state', 'in', ['sent', 'in_doubt'])
    .execute()
}

/** Ends an action with its answer, or with the reason why the service refused it. */
export async function endAction(
  db: Database,
  id: string,
  end: { answer: Record<string, unknown> | null; problem: string | null; at: Date },
): Promise<void> {
  await db
    .updateTable('service_actions')
    .set({
      state: 'done',
      answer: end.answer && storableJson(end.answer),
      problem: end.problem,
      ended_at: end.at,
    })
    .where('id', '=', BigInt(id))
    .where('state', '!=', 'done')
    .execute()
}

/** The verdict of a person on an action that nothing else decides. */
export type ActionVerdict = 'done' | 'not-done'

/**
 * Ends an action by a person's verdict, in one statement: `done` counts as carried out, `not-done` as refused. One that may still be
 * on its way (`sent` after `settledBefore`) stays, and so does one that was never sent and is said to be done. Returns whether it ended.
 */
export async function closeAction(
  db: Database,
  id: string,
  { as, at, settledBefore }: { as: ActionVerdict; at: Date; settledBefore: Date },
): Promise<boolean> {
  const isDone = as === 'done'
  const { rows } = await sql`
    update service_actions set state = 'done', ended_at = ${at}, answer = ${isDone ? '{}' : null}::jsonb,
      problem = ${isDone ? null : 'a person has said that it was not carried out'}
    where id = ${BigInt(id)}::bigint and (state = 'in_doubt' or (state = 'intent' and not ${isDone}::boolean)
      or (state = 'sent' and sent_at < ${settledBefore}))
    returning id`.execute(db)
  return rows.length > 0
}

function toAction(row: Selectable<Tables['service_actions']>): ServiceAction {
  return {
    id: String(row.id),
    operation: row.operation,
    digest: row.digest,
    place: Number(row.place),
    method: row.method,
    path: row.path,
    body: row.body,
    state: row.state,
    lookupKey: row.lookup_key!,
    answer: row.answer,
    problem: row.problem,
    createdAt: row.created_at,
    sentAt: row.sent_at,
    endedAt: row.ended_at,
  }
}
