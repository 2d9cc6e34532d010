import { RetriableError } from '../../../domain/errors.ts'
import { counted } from '../../../domain/values/counted.ts'
import type { PlannedRow, PlannedRows } from '../../../store/lists/planned-rows.ts'
import type { CreatedState } from '../../../store/database/tables/states.ts'
import { pause } from '../../../timing/pause.ts'
import type { Context } from '../../context/context.ts'
import { madeOf, makeRecords, type MakeOptions, type OpenRow, type StillOpen } from './make-records.ts'
import { tiedRows, tieRecords } from './row-ties.ts'

/** The rows of a plan from one place to another. */
export interface PlanPart {
  planId: string
  planned: PlannedRows
  /** Rows behind this place, and before the other. */
  after: number
  before: number
}

export interface MakeAllOptions {
  signal: AbortSignal
  /** The longest that it waits for another list, or for the CRM. */
  waitMs: number
  onEnded: (rows: number) => void
  /** The companies of the plan have all ended. */
  areCompaniesMade: boolean
  /** Prepares rows before they are sent. */
  prepare?: ((rows: readonly PlannedRow[]) => Promise<PlannedRow[]>) | undefined
}

export interface MadeAll {
  end: 'finished' | 'parked' | 'interrupted'
  reason?: string
}

const pollMs = 250
/** The requests whose rows are held in memory at the same time. */
const requestsAtOnce = 3

/**
 * Makes the records of a part of a plan. Rows are read page by page, so that a plan of any length is never held whole; those that have
 * to wait are met again in the next round.
 */
export async function makeAll(
  context: Context,
  options: MakeOptions,
  part: PlanPart,
  given: MakeAllOptions,
): Promise<MadeAll> {
  const { signal, waitMs } = given
  try {
    let from = part.after
    let givesUpAt = context.now().getTime() + waitMs
    for (;;) {
      const round = await makeRound(context, options, { ...part, after: from }, given)
      if (round.end) return round.end
      if (round.firstOpen === undefined) return { end: 'finished' }
      const nowMs = context.now().getTime()
      if (round.isMoving) givesUpAt = nowMs + waitMs
      if (nowMs + round.pauseMs > givesUpAt) return { end: 'parked', reason: round.reason }
      await pause(round.pauseMs, signal)
      // Everything before it has ended.
      from = round.firstOpen - 1
    }
  } catch (error) {
    if (!(error instanceof RetriableError)) throw error
    return { end: 'parked', reason: error.message }
  }
}

interface Round {
  /** Set: the round ended early. */
  end?: MadeAll
  /** The place of the first row that has not ended. */
  firstOpen: number | undefined
  isMoving: boolean
  pauseMs: number
  reason: string
}

async function makeRound(
  context: Context,
  options: MakeOptions,
  { planId, planned, after, before }: PlanPart,
  { signal, onEnded, areCompaniesMade, prepare }: MakeAllOptions,
): Promise<Round> {
  const { connector, created, making } = options
  const { perCreate } = connector.maker
  const round: Round = { firstOpen: undefined, isMoving: false, pauseMs: 0, reason: '' }
  for (let place = after; ;) {
    const page = await planned.after(planId, place, perCreate * requestsAtOnce)
    const rows = page.filter(({ ordinal }) => ordinal < before)
    const last = rows.at(-1)
    if (!last) return round
    place = last.ordinal
    const states = await created.states(
      making.runId,
      rows.map(({ ordinal }) => ordinal),
    )
    const isOpen = ({ ordinal }: PlannedRow): boolean => openStates.has(states.get(ordinal) ?? 'intent')
    const fresh = rows.filter(isOpen)
    const prepared = prepare && fresh.length > 0 ? await prepare(fresh) : fresh
    const open = prepared.map((row): OpenRow => ({ row, isRepeat: states.get(row.ordinal) === 'sent' }))
    for (let at = 0; at < open.length; at += perCreate) {
      if (signal.aborted) return { ...round, end: { end: 'interrupted' } }
      const stop = await context.runs.stopOf(making.runId)
      if (stop) return { ...round, end: { end: 'interrupted', reason: 'the run was stopped' } }
      const batch = open.slice(at, at + perCreate)
      const left = await makeBatch(context, options, batch, areCompaniesMade)
      note(round, left.rows)
      if (left.rows.length < batch.length) round.isMoving = true
      if (left.rows.length > 0) round.pauseMs = Math.max(round.pauseMs, left.pauseMs)
      round.reason ||= left.reason
      onEnded(batch.length - left.rows.length)
    }
  }
}

function note(round: Round, rows: readonly OpenRow[]): void {
  for (const { row } of rows)
    if (round.firstOpen === undefined || row.ordinal < round.firstOpen) round.firstOpen = row.ordinal
}

/** Makes the records of a batch. Returns the rows that have to wait, and for what. */
async function makeBatch(
  context: Context,
  options: MakeOptions,
  batch: readonly OpenRow[],
  areCompaniesMade: boolean,
): Promise<{ rows: OpenRow[]; pauseMs: number; reason: string }> {
  const { ready, waiting } = await tiedRows(options, batch, areCompaniesMade)
  const rows = [...waiting]
  let [pauseMs, reason] = [pollMs, '']
  if (waiting.length > 0) reason = `${waiting.length} of these people wait for their company`
  const wanted = await withoutMade(context, options, ready)
  const { again, held } = await makeRecords(context, options, wanted).catch((error: unknown): StillOpen => {
    // Nothing of the batch was sent: what was sent and is not known has ended as `again`.
    if (!(error instanceof RetriableError)) throw error
    const { retryAfterMs = 1_000, message } = error
    return { again: { rows: wanted, afterMs: retryAfterMs, reason: message }, held: [] }
  })
  rows.push(...(again?.rows ?? []), ...held.map(({ open }) => open))
  if (again) [pauseMs, reason] = [Math.max(pauseMs, again.afterMs), again.reason]
  const [first] = held
  if (first)
    reason ||= `run ${first.holder.runId} of the list ${first.holder.list} is making ${counted(held.length, 'of these record')}: when it has ended, the same command continues`
  return { rows, pauseMs, reason }
}

const openStates: ReadonlySet<CreatedState> = new Set(['intent', 'sent'])

/**
 * Ends the rows whose record is there by its key: an earlier attempt has made it, and nobody knows what it held then. Its tie to the
 * company may be missing, and is made up for first.
 */
async function withoutMade(
  context: Context,
  { connector, created, making, object }: MakeOptions,
  rows: readonly OpenRow[],
): Promise<OpenRow[]> {
  const repeats = rows.filter(({ isRepeat }) => isRepeat)
  if (repeats.length === 0) return [...rows]
  const ids = await connector.maker.findByKey(
    making.entity,
    repeats.map(({ row }) => row.key),
  )
  const there = repeats.flatMap((open) => {
    const id = ids.get(open.row.key)
    return id === undefined ? [] : [{ open, id }]
  })
  const ties = await tieRecords(connector, making.entity, there)
  await created.end(
    making,
    repeats.map(({ row }) => row),
    there.map(({ open: { row }, id }) => ({
      ordinal: row.ordinal,
      state: 'created',
      recordId: id,
      snapshot: null,
      reason: madeOf(making, row, ties.get(row.ordinal)),
    })),
  )
  await context.recordIndex.add(
    making.connector,
    making.entity,
    there.map(({ open: { row }, id }) => ({ id, object, identity: row.identity, values: row.values })),
  )
  return rows.filter(({ row }) => !ids.has(row.key))
}
