import { sql, type RawBuilder, type Transaction } from 'kysely'
import { FatalError, PaymentInDoubtError, RetriableError } from '../../domain/errors.ts'
import { isBatchKey, type LookupKey } from '../../domain/keys.ts'
import { openChargeStates } from '../../domain/payment.ts'
import { inOneTrip } from '../database/postgres/one-trip.ts'
import { adoptAnswers } from '../names/adopt-answers.ts'
import { findSameQuestions, freshAnswers, type NamedTwice } from '../names/same-questions.ts'
import type { Tables } from '../database/tables/schema.ts'
import { hasUnclaimed } from '../restored/restore-state.ts'
import { isStoppedByPerson } from '../runs/parked-runs.ts'
import { paidFor } from './charge-rows.ts'
import { isStopped } from './spend-switch.ts'

type Tx = Transaction<Tables>

/** Lookups that ask the same under other names of the same subjects, and the members of batches, each with its batch. */
export interface Namesakes {
  pairs: readonly NamedTwice[]
  batchOf: ReadonlyMap<LookupKey, LookupKey>
}

/** Returns what has to be locked with these lookups; see `refuseBoughtElsewhere`. */
export async function findNamesakes(
  tx: Tx,
  keys: readonly LookupKey[],
  hosts: readonly string[],
): Promise<Namesakes> {
  const batchOf = await membersOf(tx, keys.filter(isBatchKey))
  const singles = keys.filter((key) => !isBatchKey(key))
  return { batchOf, pairs: await findSameQuestions(tx, [...singles, ...batchOf.keys()], hosts) }
}

export interface LookupLocked {
  key: LookupKey
  has_ended: boolean
  bundle_key: string | null
  is_stopped: boolean
  run_is_stopped: boolean
  salt: string | null
  has_unclaimed: boolean
}

export interface ChargesBefore {
  attempts: number
  open: number
}

/**
 * Locks lookups so that two workers cannot both pay for one: the second sees the charge of the first. The lock needs a
 * statement of its own, because a statement that waits for a lock still sees the charges from before the wait. The charges are read by
 * the one behind it, which begins when the lock is held. The order by key keeps two groups from deadlocking. A batch is locked
 * behind its members, as everyone does who stores its answer.
 */
export async function lockLookups(
  tx: Tx,
  keys: readonly LookupKey[],
  { pairs, batchOf }: Namesakes,
): Promise<{ states: Map<LookupKey, LookupLocked>; before: Map<LookupKey, ChargesBefore> }> {
  const others = [...batchOf.keys(), ...pairs.map(({ key }) => key)]
  const isLater = (key: LookupKey) => others.length > 0 && isBatchKey(key)
  const first = new Set([...keys.filter((key) => !isLater(key)), ...others])
  const later = keys.filter(isLater)
  const states: LookupLocked[] = []
  if (later.length > 0) states.push(...(await locking([...first]).execute(tx)).rows)
  const [locked, charges] = await inOneTrip<[LookupLocked, ChargesBefore & { wanted: LookupKey }]>(
    tx,
    locking(later.length > 0 ? later : [...first]),
    sql`
    select wanted, coalesce(max(attempt) filter (where lookup_key = wanted), 0)::int as attempts,
      count(*) filter (where state = any(${[...openChargeStates]}::text[]))::int as open
    from ${paidFor(keys, sql`lookup_key, attempt, state`)} group by wanted`,
  )
  states.push(...locked.rows)
  return {
    states: new Map(states.map((row) => [row.key, row])),
    before: new Map(charges.rows.map((row) => [row.wanted, row])),
  }
}

function locking(keys: readonly LookupKey[]): RawBuilder<LookupLocked> {
  return sql`
    select key, state in ('answered', 'failed') or query_id is not null as has_ended, bundle_key, salt, ${hasUnclaimed} as has_unclaimed,
      ${isStopped} as is_stopped, ${isStoppedByPerson(sql`lookups.run_id`)} as run_is_stopped
    from lookups where key = any(${[...keys]}::text[]) order by key collate "C" for no key update`
}

/**
 * Called before a charge is reserved for lookups, when they and their namesakes are locked; `existing` are those that are there.
 * Returns why a lookup must not be paid for: the answer is in the ledger under another name (then the lookup has it now), or
 * a charge under another name may still bring it.
 *
 * Crash and race windows:
 * - Two workers pay for one subject under two names. Both lock both rows, in the order of the keys, and read the charges
 *   after that in a statement of their own: the second sees the charge of the first, or its answer.
 * - The other name's row does not exist yet. Whoever reserves for it later locks this row too, and waits for this commit.
 * - A batch locks its members and their other names, before its own row as everyone who stores its answer does.
 * - A kill after the answer was taken over and before the commit: nothing has changed. After the commit the lookup is
 *   answered, and the sweep moves the tasks that wait for it.
 * - A name that is taught while this transaction waits is not seen. It is known from the commit of its answer on; a charge
 *   that was reserved before that may buy the answer once more, as it may have been sent already.
 */
export async function refuseBoughtElsewhere(
  tx: Tx,
  { pairs, batchOf }: Namesakes,
  { existing, at }: { existing: { has(key: LookupKey): boolean }; at: Date },
): Promise<Map<LookupKey, Error>> {
  const twice = pairs.filter(({ key }) => existing.has(key))
  if (twice.length === 0) return new Map()

  const isSingle = ({ asked }: NamedTwice) => !batchOf.has(asked)
  const answered = await adoptAnswers(tx, twice.filter(isSingle), at)
  const inBatch = twice.filter((pair) => !isSingle(pair))
  const alreadyFresh = inBatch.length === 0 ? new Set<LookupKey>() : await freshAmong(tx, inBatch, at)
  const open = await openAmong(
    tx,
    twice.map(({ key }) => key),
  )
  const refusals = new Map<LookupKey, Error>()
  for (const { asked, key } of twice) {
    const batch = batchOf.get(asked)
    if (batch === undefined) {
      if (answered.has(asked)) refusals.set(asked, answeredElsewhere())
      else if (open.has(key)) refusals.set(asked, openElsewhere())
    } else if (alreadyFresh.has(asked) || open.has(key) || batchOf.get(key) === batch) {
      // Each member then goes alone, and those that are known already take their answers.
      refusals.set(batch, knownMember())
    }
  }
  return refusals
}

/** Returns the members of batches, each with its batch. */
async function membersOf(tx: Tx, batches: readonly LookupKey[]): Promise<Map<LookupKey, LookupKey>> {
  if (batches.length === 0) return new Map()
  const { rows } = await sql<{ key: LookupKey; batch: LookupKey }>`
    select lookup_key as key, bundle_key as batch from bundle_members where bundle_key = any(${[...batches]}::text[])`.execute(
    tx,
  )
  return new Map(rows.map(({ key, batch }) => [key, batch]))
}

async function freshAmong(tx: Tx, pairs: readonly NamedTwice[], at: Date): Promise<Set<LookupKey>> {
  const { rows } = await sql<{ asked: LookupKey }>`select asked from ${freshAnswers(pairs, at)}`.execute(tx)
  return new Set(rows.map(({ asked }) => asked))
}

/** Returns the lookups that have an open charge, alone or in a batch, or whose batch was started and has no answer yet. */
async function openAmong(tx: Tx, keys: readonly LookupKey[]): Promise<Set<LookupKey>> {
  const { rows } = await sql<{ key: LookupKey }>`
    select wanted as key from ${paidFor(keys, sql`state`)} where state = any(${[...openChargeStates]}::text[])
    union
    select member.key from lookups as member join lookups as batch on batch.key = member.bundle_key
    where member.key = any(${[...keys]}::text[]) and batch.query_id is not null and batch.state <> 'answered'`.execute(
    tx,
  )
  return new Set(rows.map(({ key }) => key))
}

function answeredElsewhere(): Error {
  const options = { retryAfterMs: 50, countsAsTry: false }
  return new RetriableError('ended_meanwhile', 'the lookup was answered under another name', options)
}

function openElsewhere(): Error {
  const message = 'a charge for the same subject under another name is still open'
  return new PaymentInDoubtError('charge_open', message)
}

function knownMember(): Error {
  return new FatalError('known_member', 'a lookup of the batch is bought or known under another name')
}
