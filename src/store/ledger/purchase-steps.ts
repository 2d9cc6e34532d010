import { sql } from 'kysely'
import { errorCode } from '../../domain/error-codes.ts'
import { RetriableError } from '../../domain/errors.ts'
import type { LookupKey } from '../../domain/keys.ts'
import { openChargeStates, type Charge, type ChargeState } from '../../domain/payment.ts'
import type { ChargeJournal, NewCharge, SendMark } from '../../domain/ports/charge-journal.ts'
import { coalesceWhileBusy, type Each } from '../../timing/coalesce.ts'
import type { Database } from '../database/database.ts'
import { waitsOf } from '../database/gathering.ts'
import { inOneTransaction } from '../database/postgres/one-trip.ts'
import { findSameWithAny } from '../names/same-questions.ts'
import { retryWhileAway } from '../database/retry-while-away.ts'
import { columnsOfCharge, paidFor, toCharge, type ChargeRow } from './charge-rows.ts'
import { reserveCharges } from './reserve-charges.ts'
import { settleCharges, type SettledAnswer, type Settlement } from './settle-charges.ts'
import type { SettledHere } from './lookups.ts'
import { isStopped } from './spend-switch.ts'

/**
 * True for a charge whose lookup a stopped run would buy; for use inside a statement over `charges`. The lookup's run counts,
 * and not the charge's: another run may have asked for it since.
 */
const isOfStoppedRun = sql<boolean>`exists (
  select from lookups join run_stops on run_stops.run_id = lookups.run_id where lookups.key = charges.lookup_key)`

type UnansweredRow = ChargeRow & { wanted: LookupKey; restored_at: Date | null }
type Unanswered = Awaited<ReturnType<ChargeJournal['unanswered']>>

/**
 * The steps of a purchase. When many lookups take the same step at once, they take it as a group, in one transaction (see
 * `coalesceWhileBusy`). Each charge keeps its own order of steps, because a step begins after the group of the step before
 * has committed.
 */
export function createPurchaseSteps(
  db: Database,
  options: {
    now: () => Date
    newId: () => string
    hosts: readonly string[]
    settled?: SettledHere | undefined
  },
): Pick<ChargeJournal, 'unanswered' | 'reserve' | 'maySend' | 'markSent' | 'settleCharge'> {
  async function unansweredAll(keys: readonly LookupKey[]): Promise<Each<Unanswered>[]> {
    const others = await findSameWithAny(db, keys, options.hosts)
    const namesOf = (key: LookupKey) => [key, ...(others.get(key) ?? [])]
    // A loss of an earlier refresh, which an answer has followed, does not count against this one.
    const { rows } = await sql<UnansweredRow>`
      select * from ${paidFor([...new Set(keys.flatMap(namesOf))], columnsOfCharge('restored_at'))} where state = any(${[...openChargeStates]}::text[])
        or (state = 'lost' and created_at > coalesce(
          (select answered_at from lookups where lookups.key = wanted), '-infinity'))`.execute(db)
    const byKey = Map.groupBy(rows, ({ wanted }) => wanted)
    return keys.map((key) => {
      // Losses under another name of the subject count too: the limit is for the answer.
      const ofKey = namesOf(key).flatMap((name) => byKey.get(name) ?? [])
      // An open charge of the lookup's batch belongs to the batch.
      const open = ofKey.find((row) => row.state !== 'lost' && row.lookup_key === key)
      const lostAt = ofKey.filter((row) => row.state === 'lost').map((row) => row.created_at)
      const lastLostAt = lostAt.toSorted((a, b) => b.getTime() - a.getTime())[0]
      // A payment that only the chain remembers is not made again: it counts as the one loss that is bought again, and that purchase.
      const restored = ofKey.filter((row) => row.state === 'lost' && row.restored_at !== null).length
      return { ok: { open: open && toCharge(open), lost: lostAt.length + restored, lastLostAt } }
    })
  }

  async function reserveAll(charges: readonly NewCharge[]): Promise<Each<Charge>[]> {
    return inOneTransaction(db, (tx, ending) => reserveCharges(tx, charges, options, ending)).catch(
      (error: unknown) => {
        // A server that derives its challenges from terms and time alone gives two lookups of one instant the same one.
        if ((error as { constraint?: string }).constraint !== 'charges_nonce_key') throw error
        // It counts as a try: a server that gives every request the same one would otherwise be asked without end.
        const message = 'the service gave another payment the same challenge'
        throw new RetriableError(errorCode.challengeTaken, message)
      },
    )
  }

  async function maySendAll(sendings: readonly { id: string; isUsed: boolean }[]): Promise<Each<SendMark>[]> {
    const ids = sendings.map(({ id }) => id)
    const { rows } = await sql<{ id: string; state: ChargeState; stopped: boolean; runStopped: boolean }>`
      select id, state, ${isStopped} as stopped, ${isOfStoppedRun} as "runStopped" from charges where id = any(${ids}::text[])`.execute(
      db,
    )
    return sendings.map(({ id, isUsed }) => {
      const row = rows.find((each) => each.id === id)
      if (!row || !openChargeStates.some((open) => open === row.state)) return { ok: 'closed' }
      if (isUsed && row.state !== 'journaled') return { ok: 'sent' }
      return { ok: row.stopped ? 'stopped' : row.runStopped ? 'run_stopped' : 'sent' }
    })
  }

  async function markAllSent(
    sendings: readonly { id: string; at: Date; is_used: boolean }[],
  ): Promise<Each<SendMark>[]> {
    const ids = sendings.map(({ id }) => id)
    // The first time counts: how long an answer may still be on its way is measured from there. The ids go beside the rows, of
    // which the planner expects a hundred: for so many it would read all charges.
    const { rows } = await sql<{ id: string }>`
      update charges set state = 'sent', sends = sends + 1, sent_at = coalesce(sent_at, sending.at), touched_at = sending.at
      from jsonb_to_recordset(${JSON.stringify(sendings)}::jsonb) as sending (id text, at timestamptz, is_used boolean)
      where charges.id = any(${ids}::text[]) and charges.id = sending.id and state = any(${[...openChargeStates]}::text[])
        and ((is_used and state <> 'journaled') or not ${isStopped} and not ${isOfStoppedRun}) returning charges.id`.execute(
      db,
    )
    const marked = new Set(rows.map(({ id }) => id))
    const left = ids.filter((id) => !marked.has(id))
    const open = left.length === 0 ? new Map<string, SendMark>() : await whyNotSent(left)
    return ids.map((id) => ({ ok: marked.has(id) ? 'sent' : (open.get(id) ?? 'closed') }))
  }

  /** An order that was lifted in the meantime still kept the charge from being sent: it is tried again. */
  async function whyNotSent(ids: readonly string[]): Promise<Map<string, SendMark>> {
    const { rows } = await sql<{ id: string; stopped: boolean }>`
      select id, ${isStopped} as stopped from charges
      where id = any(${[...ids]}::text[]) and state = any(${[...openChargeStates]}::text[])`.execute(db)
    return new Map(rows.map(({ id, stopped }) => [id, stopped ? 'stopped' : 'run_stopped']))
  }

  /** Waits for a database that is away, because a paid answer has arrived. The write may be repeated. */
  async function settleAll(settlements: readonly Settlement[]): Promise<Each<void>[]> {
    const answers = await retryWhileAway(() =>
      inOneTransaction(db, (tx, ending) =>
        settleCharges(tx, settlements, { at: options.now(), hosts: options.hosts, ending }),
      ),
    )
    remember(answers)
    return settlements.map(() => ({ ok: undefined }))
  }

  /**
   * Called when they have committed: whoever plans the next step would read the same. Where the confirmation of the commit was lost,
   * its repetition settles nothing, and what was stored is read. An answer that may be asked anew at once is read too: another
   * run may wait for the next one already.
   */
  function remember(answers: readonly SettledAnswer[]): void {
    const soonMs = options.now().getTime() + 60_000
    for (const { key, operation, answer } of answers) {
      const { outcome, data, freshUntil } = answer
      if (freshUntil.getTime() > soonMs)
        options.settled?.remember(key, { operation, outcome, data, freshUntil })
    }
  }

  const waits = waitsOf(db)
  const maySend = coalesceWhileBusy(maySendAll, ({ id }) => id, waits)
  const markSent = coalesceWhileBusy(markAllSent, ({ id }) => id, waits)
  const settle = coalesceWhileBusy(settleAll, ({ id }) => id, waits)

  return {
    unanswered: coalesceWhileBusy(unansweredAll, (key) => key, waits),
    reserve: coalesceWhileBusy(reserveAll, ({ lookupKey }) => lookupKey, waits),
    maySend: (id, { isUsed = false } = {}) => maySend({ id, isUsed }),
    markSent: (id, at, { isUsed = false } = {}) => markSent({ id, at, is_used: isUsed }),
    settleCharge: ({ id, lookupKey }, receipt, answer) => settle({ id, key: lookupKey, receipt, answer }),
  }
}
