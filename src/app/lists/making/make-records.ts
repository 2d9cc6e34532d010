import type { CreateResult, RecordDraft } from '../../../connectors/creating.ts'
import { RetriableError } from '../../../domain/errors.ts'
import { patchOf } from '../../../domain/lists/list-draft.ts'
import { pause } from '../../../timing/pause.ts'
import type { CreatedRecords, Ending, Holder, Making } from '../../../store/lists/created-records.ts'
import type { PlannedRow } from '../../../store/lists/planned-rows.ts'
import type { ListSettings } from '../../config/lists.ts'
import type { Context } from '../../context/context.ts'
import type { ObjectKind } from '../../../domain/words.ts'
import type { MakingConnector } from './fit-row.ts'
import { withoutKeyed } from './without-keyed.ts'
import { judgeLive } from '../judging/judge-live.ts'
import { rowOfPlan } from '../judging/row-of-plan.ts'

export interface MakeOptions {
  making: Making
  object: ObjectKind
  settings: ListSettings
  connector: MakingConnector
  created: CreatedRecords
}

/** A row with what is known of earlier attempts. */
export interface OpenRow {
  row: PlannedRow
  /** It may have been sent before. */
  isRepeat: boolean
  tie?: RowTie | undefined
}

/** The record of a person's company, or the reason why the person is tied to none. */
export type RowTie = { entity: string } & ({ recordId: string } | { untied: string })

/** The rows of a batch that have not ended. */
export interface StillOpen {
  /** The CRM has to be asked again. */
  again: { rows: OpenRow[]; afterMs: number; reason: string } | undefined
  /** Another draft holds one of their identities. */
  held: { open: OpenRow; holder: Holder }[]
}

/**
 * Makes the records of a batch: reserves their identities, judges each against the CRM as it is now, notes them as sent, sends them, and
 * ends each with what the record held afterwards. The crash windows are above the ledger (src/store/lists/created-records.ts).
 */
export async function makeRecords(
  context: Context,
  options: MakeOptions,
  batch: readonly OpenRow[],
): Promise<StillOpen> {
  const { making, object, settings, connector, created } = options
  const { entity, set } = settings.into
  const { reserved, held } = await created.reserve(
    making,
    batch.map(({ row }) => row),
  )
  const waiting = batch.flatMap((open) => {
    const holder = held.get(open.row.ordinal)
    return holder ? [{ open, holder }] : []
  })
  await created.end(
    making,
    waiting.map(({ open }) => open.row),
    waiting.flatMap(({ open, holder }) => endByHolder(open, holder)),
  )
  const ours = batch.filter(({ row }) => reserved.has(row.ordinal))
  const live = await judgeLive(
    context,
    connector,
    settings,
    ours.map(({ row }) => rowOfPlan(object, row)),
  )
  // A revealed e-mail may be all by which a person is suppressed. It is not kept, so that the row alone does not show it.
  const judged = live.map((each, at) =>
    ours[at]!.row.isSuppressed
      ? { ...each, verdict: 'suppressed' as const, reason: 'it is on the suppression list' }
      : each,
  )
  const others = judged.flatMap(({ verdict, reason, records }, at): Ending[] => {
    const { ordinal } = ours[at]!.row
    if (verdict === 'new') return []
    // A record of another object, such as a lead for a contact, is named in the reason alone.
    const record = records.find((each) => each.entity === entity)
    return verdict === 'exists'
      ? [{ ordinal, state: 'exists', recordId: record?.recordId ?? null, reason: `exists: ${reason}` }]
      : [{ ordinal, state: 'left', reason: `${verdict}: ${reason}` }]
  })
  await created.end(
    making,
    ours.map(({ row }) => row),
    others,
  )
  const fresh = await withoutKeyed(
    options,
    ours.filter((_, at) => judged[at]?.verdict === 'new'),
  )
  const isOurs = await created.markSent(
    making.runId,
    fresh.map(({ row }) => row.ordinal),
  )
  const sent = fresh.filter(({ row }) => isOurs.has(row.ordinal))
  const stillHeld = waiting.filter(({ holder }) => holder.state !== 'created')
  if (sent.length === 0) return { again: undefined, held: stillHeld }

  let results: CreateResult[]
  try {
    results = await connector.maker.create(
      entity,
      sent.map(({ row, isRepeat, tie }): RecordDraft => ({
        key: row.key,
        patch: patchOf(row.values),
        set,
        ownerId: row.owner,
        companyId: tie && 'recordId' in tie ? tie.recordId : undefined,
        isRepeat,
      })),
    )
  } catch (error) {
    if (!(error instanceof RetriableError)) throw error
    const rows = sent.map((open): OpenRow => ({ ...open, isRepeat: true }))
    return {
      again: { rows, afterMs: error.retryAfterMs ?? 1_000, reason: error.message },
      held: stillHeld,
    }
  }
  const again = await endResults(context, options, sent, results)
  return { again, held: stillHeld }
}

/** Ends drafts by what the CRM has said of them. Returns those that have to be sent again. */
async function endResults(
  context: Context,
  { making, object, settings, connector, created }: MakeOptions,
  sent: readonly OpenRow[],
  given: readonly CreateResult[],
): Promise<StillOpen['again']> {
  const { entity } = settings.into
  const results = await tieAgain(connector, entity, sent, given)
  const made = results.flatMap((result) => (result.status === 'created' ? [result.id] : []))
  const snapshots = await snapshotsOf(connector, entity, made)
  const endings: Ending[] = []
  const rows: OpenRow[] = []
  let [afterMs, reason] = [0, '']
  results.forEach((result, at) => {
    const { row, isRepeat, tie } = sent[at]!
    const { ordinal } = row
    const from = madeOf(making, row, tie)
    if (result.status === 'created') {
      // A value without a place in the CRM is none that was left out of it.
      const leftOut = (result.leftOut ?? [])
        .filter(({ code }) => code !== notMapped)
        .map(({ field, reason: why }) => `${field} (${why})`)
      endings.push({
        ordinal,
        state: 'created',
        recordId: result.id,
        snapshot: snapshots.get(result.id) ?? null,
        reason: leftOut.length === 0 ? from : `${from}; left out ${leftOut.join(', ')}`,
      })
    } else if (result.status === 'present' && isRepeat)
      endings.push({ ordinal, state: 'created', recordId: result.id, snapshot: null, reason: from })
    else if (result.status === 'present')
      endings.push({ ordinal, state: 'exists', recordId: result.id, reason: 'exists: it has our key' })
    else if (result.status === 'exists')
      endings.push({
        ordinal,
        state: 'exists',
        recordId: result.ids[0] ?? null,
        reason: `exists: ${result.reason}`,
      })
    else if (result.status === 'rejected')
      endings.push({
        ordinal,
        state: 'rejected',
        reason: `${result.field === undefined ? '' : `${result.field}: `}${result.reason}`,
      })
    else {
      rows.push({ row, isRepeat: true, tie })
      if (result.afterMs >= afterMs) [afterMs, reason] = [result.afterMs, result.reason]
    }
  })
  await created.end(
    making,
    sent.map(({ row }) => row),
    endings,
  )
  const known = endings.flatMap((ending) => {
    const row = sent.find((each) => each.row.ordinal === ending.ordinal)?.row
    return ending.state === 'created' && row
      ? [{ id: ending.recordId, object, identity: row.identity, values: row.values }]
      : []
  })
  await context.recordIndex.add(connector.name, entity, known)
  return rows.length > 0 ? { rows, afterMs, reason } : undefined
}

/** A record whose state could not be read is made all the same: without a snapshot nothing archives it later. */
async function snapshotsOf({ maker }: MakingConnector, entity: string, ids: readonly string[]) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await maker.snapshots(entity, ids)
    } catch (error) {
      if (!(error instanceof RetriableError) || tries === 3) return new Map<string, never>()
      await pause(Math.min(error.retryAfterMs ?? 500, 5_000), new AbortController().signal)
    }
  }
}

/** A record with another profile is somebody else, who shares an e-mail or a domain: a person has to decide, as in every judgement. */
function endByHolder(
  { row: { ordinal, identities } }: OpenRow,
  { state, list, runId, recordId, identities: theirs }: Holder,
): Ending[] {
  if (state !== 'created') return []
  const [own, others] = [identities, theirs].map((each) => each.filter(({ kind }) => kind === 'profile'))
  const isAnother =
    own!.length > 0 &&
    others!.length > 0 &&
    !own!.some(({ value }) => others!.some((it) => it.value === value))
  if (isAnother)
    return [
      {
        ordinal,
        state: 'left',
        reason: `ambiguous: run ${runId} of the list ${list} made a record with another profile that shares an e-mail, a domain or an id with it`,
      },
    ]
  return [
    {
      ordinal,
      state: 'exists',
      recordId,
      reason: `exists: run ${runId} of the list ${list} made it`,
    },
  ]
}

/** Returns the reason of a record that was made: the page of the list, and the company where it is tied to none. */
export function madeOf({ list }: Making, { page }: PlannedRow, tie: RowTie | undefined): string {
  const from = page === null ? `made for the list ${list}` : `made of page ${page} of the list ${list}`
  return tie && 'untied' in tie ? `${from}; tied to no company: ${tie.untied}` : from
}

const notMapped = 'NOT_MAPPED'
const notTied = 'NOT_TIED'

/** Ties once more the new records whose tie has failed: the CRM may have been busy. One that fails again stays without. */
async function tieAgain(
  { maker }: MakingConnector,
  entity: string,
  sent: readonly OpenRow[],
  results: readonly CreateResult[],
): Promise<CreateResult[]> {
  const pairs = results.flatMap((result, at) => {
    const tie = sent[at]?.tie
    const isUntied = result.status === 'created' && result.leftOut?.some(({ code }) => code === notTied)
    return isUntied && tie && 'recordId' in tie
      ? [{ at, toEntity: tie.entity, from: result.id, to: tie.recordId }]
      : []
  })
  const [first] = pairs
  if (!first) return [...results]
  let refused: ReadonlyMap<number, string>
  try {
    refused = await maker.associate(entity, first.toEntity, pairs)
  } catch (error) {
    if (!(error instanceof RetriableError)) throw error
    return [...results]
  }
  const tied = new Set(pairs.flatMap(({ at }, index) => (refused.has(index) ? [] : [at])))
  return results.map((result, at) =>
    tied.has(at) && result.status === 'created'
      ? { ...result, leftOut: (result.leftOut ?? []).filter(({ code }) => code !== notTied) }
      : result,
  )
}
