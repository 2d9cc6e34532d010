import type { CreateResult, RecordDraft } from '../../../connectors/creating.ts'
import { RetriableError } from '../../../domain/errors.ts'
import type { ListRow } from '../../../domain/lists/list-row.ts'
import { patchOf } from '../../../domain/lists/list-draft.ts'
import { pause } from '../../../timing/pause.ts'
import type { CreatedRecords, Ending, Holder, Making } from '../../../store/lists/created-records.ts'
import type { PlannedRow } from '../../../store/lists/planned-rows.ts'
import type { ListSettings } from '../../config/lists.ts'
import type { Context } from '../../context/context.ts'
import type { MakingConnector } from './fit-row.ts'
import { judgeLive } from '../judging/judge-live.ts'

export interface MakeOptions {
  making: Making
  settings: ListSettings
  connector: MakingConnector
  created: CreatedRecords
}

/** A row with what is known of earlier attempts. */
export interface OpenRow {
  row: PlannedRow
  /** It may have been sent before. */
  isRepeat: boolean
}

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
  { making, settings, connector, created }: MakeOptions,
  batch: readonly OpenRow[],
): Promise<StillOpen> {
  const { entity, set, owner } = settings.into
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
  const judged = await judgeLive(
    context,
    connector,
    settings,
    ours.map(({ row }) => listRow(row)),
  )
  const others = judged.flatMap(({ verdict, reason, records }, at): Ending[] => {
    const { ordinal } = ours[at]!.row
    if (verdict === 'new') return []
    return verdict === 'exists'
      ? [{ ordinal, state: 'exists', recordId: records[0]?.recordId ?? null, reason: `exists: ${reason}` }]
      : [{ ordinal, state: 'left', reason: `${verdict}: ${reason}` }]
  })
  await created.end(
    making,
    ours.map(({ row }) => row),
    others,
  )
  const fresh = ours.filter((_, at) => judged[at]?.verdict === 'new')
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
      sent.map(({ row, isRepeat }): RecordDraft => ({
        key: row.key,
        patch: patchOf(row.values),
        set,
        ownerId: owner,
        isRepeat,
      })),
    )
  } catch (error) {
    if (!(error instanceof RetriableError)) throw error
    const rows = sent.map(({ row }): OpenRow => ({ row, isRepeat: true }))
    return {
      again: { rows, afterMs: error.retryAfterMs ?? 1_000, reason: error.message },
      held: stillHeld,
    }
  }
  const again = await endResults(context, { making, settings, connector, created }, sent, results)
  return { again, held: stillHeld }
}

/** Ends drafts by what the CRM has said of them. Returns those that have to be sent again. */
async function endResults(
  context: Context,
  { making, settings, connector, created }: MakeOptions,
  sent: readonly OpenRow[],
  results: readonly CreateResult[],
): Promise<StillOpen['again']> {
  const { entity } = settings.into
  const made = results.flatMap((result) => (result.status === 'created' ? [result.id] : []))
  const snapshots = await snapshotsOf(connector, entity, made)
  const endings: Ending[] = []
  const rows: OpenRow[] = []
  let [afterMs, reason] = [0, '']
  results.forEach((result, at) => {
    const { row, isRepeat } = sent[at]!
    const { ordinal, page } = row
    const from = `made of page ${page ?? '?'} of the list ${making.list}`
    if (result.status === 'created') {
      const leftOut = (result.leftOut ?? []).map(({ field, reason: why }) => `${field} (${why})`)
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
      rows.push({ row, isRepeat: true })
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
      ? [{ id: ending.recordId, object: 'company' as const, identity: row.identity, values: row.values }]
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

function endByHolder({ row: { ordinal } }: OpenRow, { state, list, runId, recordId }: Holder): Ending[] {
  if (state !== 'created') return []
  return [
    {
      ordinal,
      state: 'exists',
      recordId,
      reason: `exists: run ${runId} of the list ${list} made it`,
    },
  ]
}

function listRow({ identity, identities, values, page, key }: PlannedRow): ListRow {
  const serviceId = identity.companyId ?? key
  return { object: 'company', page: page ?? 0, serviceId, identity, values, identities }
}
