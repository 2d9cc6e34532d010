import { RetriableError } from '../../domain/errors.ts'
import type { CrmMapping, DescribedField, EntityMapping } from '../../domain/mapping/mapping.ts'
import { writeStamp } from '../../domain/mapping/stamp.ts'
import type { OwnValues, RecordPatch, WriteResult } from '../connector.ts'
import { refused, type HubspotApi } from './api/client.ts'
import { prepare, type Input } from './prepare.ts'
import { entityMapping, ownFieldsMissing, type HubspotProperties } from './properties.ts'
import { writableProperties } from './records.ts'
import { refusedRecord } from './refused-record.ts'
import { learnRequired, type RequiredRules } from './required.ts'
import { conditionallyRequired, readRefusal, type RefusalDetail } from './api/refusal.ts'
import { batchSchema, paths, type BatchError, type HubspotEntity } from './api/wire.ts'

export const writeLimit = 100
/** Refusals that concern the account's properties and not a record. */
export const propertyCodes = new Set(['PROPERTY_DOESNT_EXIST', 'READ_ONLY_VALUE'])
/** Error categories of a 207 after which the same patch may succeed later. */
export const passing = new Set(['RATE_LIMITS', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE', 'TIMEOUT'])
export const passingAfterMs = 5000
export const defaultRetryMs = 60_000

interface Deps {
  api: HubspotApi
  properties: HubspotProperties
  required: RequiredRules
  mapping: CrmMapping
  now: () => number
}

/**
 * Writes patches, 100 a call, and returns one result for each in their order.
 *
 * HubSpot refuses a whole batch for one bad record and names the property, not the record. Such a batch is halved until
 * the bad records are alone, and all others are written. When a limit or an outage interrupts the work, the records not
 * yet written get `retry`: a thrown error would lose the results of those written.
 */
export async function write(
  deps: Deps,
  entity: HubspotEntity,
  patches: readonly RecordPatch[],
): Promise<WriteResult[]> {
  const entityMap = entityMapping(deps.mapping, entity)
  const fields = await fittingFor(deps, entity, entityMap, patches)
  const results: (WriteResult | undefined)[] = Array.from({ length: patches.length })
  const inputs: Input[] = []
  patches.forEach((patch, index) => {
    const prepared = prepare(patch, index, entityMap, fields)
    if ('status' in prepared) results[index] = prepared
    else inputs.push(prepared)
  })
  const settle = (input: Input, result: WriteResult): void => {
    results[input.index] = result
  }
  /** Fits a batch to the account's properties as they are now; undefined where that changes nothing. */
  const fitAgain = async (batch: readonly Input[]): Promise<Input[] | undefined> => {
    const now = await deps.properties.fitting(entity)
    const isStale = batch.some(({ properties }) =>
      Object.keys(properties).some((name) => now.get(name)?.writable !== true),
    )
    if (!isStale) return undefined
    return batch.flatMap(({ index }) => {
      const prepared = prepare(patches[index] as RecordPatch, index, entityMap, now)
      if (!('status' in prepared)) return [prepared]
      results[index] = prepared
      return []
    })
  }

  const waiting = batches(inputs)
  for (let batch = waiting.shift(); batch; batch = waiting.shift()) {
    try {
      const halves = await sendBatch(deps, entity, entityMap, batch, { settle, fitAgain })
      waiting.unshift(...halves)
    } catch (error) {
      const isAnySettled = inputs.some(({ index }) => results[index] !== undefined)
      if (!(error instanceof RetriableError) && !isAnySettled) throw error
      const afterMs = (error instanceof RetriableError ? error.retryAfterMs : undefined) ?? defaultRetryMs
      const reason = error instanceof RetriableError ? error.message : 'the CRM stopped taking writes'
      for (const input of [batch, ...waiting].flat()) {
        if (results[input.index] === undefined)
          settle(input, { id: input.id, status: 'retry', afterMs, reason })
      }
      break
    }
  }
  return results as WriteResult[]
}

/** Another process may have created a property since they were described: its field would be left out without a word. */
async function fittingFor(
  { properties }: Deps,
  entity: HubspotEntity,
  { fields: mapped }: EntityMapping,
  patches: readonly RecordPatch[],
): Promise<ReadonlyMap<string, DescribedField>> {
  const described = await properties.fitting(entity)
  const wanted = new Set(patches.flatMap(({ patch }) => Object.keys(patch)))
  const lacks = [...wanted].some((field) => mapped[field]?.create && !described.has(mapped[field].property))
  if (!lacks) return described
  properties.forget(entity)
  return properties.fitting(entity)
}

interface Sending {
  settle: (input: Input, result: WriteResult) => void
  fitAgain: (batch: readonly Input[]) => Promise<Input[] | undefined>
}

/**
 * Sends one batch and stores the results that its answer decides. Returns what is still to be sent: the two halves of a
 * batch that was refused as a whole, or the batch without a property that is no longer there.
 */
async function sendBatch(
  { api, properties, required, mapping, now }: Deps,
  entity: HubspotEntity,
  entityMap: EntityMapping,
  batch: Input[],
  { settle, fitAgain }: Sending,
): Promise<Input[][]> {
  const all = writableProperties(entityMap)
  const at = new Date(now()).toISOString()
  const answer = await api.call(batchSchema, {
    method: 'POST',
    path: paths.batchUpdate(entity),
    body: {
      inputs: batch.map(({ id, index, properties: written, own }) => ({
        id,
        objectWriteTraceId: String(index),
        properties: {
          ...written,
          ...stampOf(
            mapping,
            own ?? { status: 'enriched', enrichedAt: at, source: writeStamp(all, written) },
          ),
        },
      })),
    },
  })
  if (answer.ok) {
    settleAll(batch, answer.data.results, answer.data.errors ?? [], entityMap, settle)
    return []
  }
  const { code, property } = readRefusal(answer.refusal, answer.status)
  if (propertyCodes.has(code)) {
    // The account's properties changed since they were described. One of the default mapping is left out; one that the
    // config file names stops the writing, with the near names.
    properties.forget(entity)
    const again = await fitAgain(batch)
    if (again) return again.length > 0 ? [again] : []
    const missing = await properties.missing(entity)
    if (missing.length > 0 || batch.length === 1) throw missingFields(entity, missing, property, code)
  }
  if (batch.length > 1) {
    const middle = Math.ceil(batch.length / 2)
    return [batch.slice(0, middle), batch.slice(middle)]
  }
  for (const input of batch) {
    const detail = readRefusal(answer.refusal, answer.status)
    settle(input, rejected(input, detail, entityMap))
    if (detail.code === conditionallyRequired)
      await learnRequired({ api, required }, entity, { id: input.id, sent: input.properties }, answer.refusal)
  }
  return []
}

export function stampOf({ own }: CrmMapping, values: OwnValues): Record<string, string> {
  return {
    [own.status]: String(values.status ?? ''),
    [own.enrichedAt]: String(values.enrichedAt ?? ''),
    [own.source]: String(values.source ?? ''),
  }
}

function settleAll(
  batch: readonly Input[],
  results: readonly { id: string; objectWriteTraceId?: string | undefined }[],
  errors: readonly BatchError[],
  entityMap: EntityMapping,
  settle: (input: Input, result: WriteResult) => void,
): void {
  const traced = new Set(results.map(({ objectWriteTraceId }) => objectWriteTraceId))
  const ids = new Set(results.map(({ id }) => id))
  const failed = new Map<string, BatchError>()
  for (const error of errors) {
    for (const trace of error.context?.['objectWriteTraceId'] ?? []) failed.set(`trace ${trace}`, error)
    for (const id of error.context?.['ids'] ?? []) failed.set(`id ${id}`, error)
  }
  for (const input of batch) {
    const { id, index, leftOut } = input
    const error = failed.get(`trace ${index}`) ?? failed.get(`id ${id}`)
    if (error) settle(input, failure(input, error, entityMap))
    // A merged record's result has the winner's id, and is recognised by its trace.
    else if (traced.has(String(index)) || ids.has(id))
      settle(input, { id, status: 'written', ...(leftOut.length > 0 ? { leftOut } : {}) })
    else
      settle(input, {
        id,
        status: 'rejected',
        code: 'NO_RESULT',
        reason: 'HubSpot returned no result for this record',
      })
  }
}

function failure(input: Input, error: BatchError, entityMap: EntityMapping): WriteResult {
  if (passing.has(error.category))
    return {
      id: input.id,
      status: 'retry',
      afterMs: passingAfterMs,
      reason: `HubSpot: ${error.category}`,
    }
  return rejected(input, readRefusal(error), entityMap)
}

function rejected(
  { id, properties }: Input,
  { code, property, because }: RefusalDetail,
  entityMap: EntityMapping,
): WriteResult {
  if (code === 'OBJECT_NOT_FOUND') return { id, status: 'skipped', reason: 'the record is gone' }
  return { id, status: 'rejected', ...refusedRecord({ code, property, because }, properties, entityMap) }
}

function missingFields(
  entity: string,
  missing: readonly string[],
  property: string | undefined,
  code: string,
): Error {
  if (missing.length > 0) return ownFieldsMissing(entity, missing)
  return refused(`the property "${property ?? 'unknown'}" of ${entity}`, {
    status: 400,
    refusal: { errors: [{ code }] },
  })
}

/**
 * Splits patches into batches of 100. A record with two patches is in two batches, since HubSpot refuses a repeated id.
 */
function batches(inputs: readonly Input[]): Input[][] {
  const made: { inputs: Input[]; ids: Set<string> }[] = []
  let first = 0
  for (const input of inputs) {
    while ((made[first]?.inputs.length ?? 0) >= writeLimit) first += 1
    let at = first
    while (made[at] && (made[at]!.inputs.length >= writeLimit || made[at]!.ids.has(input.id))) at += 1
    const batch = (made[at] ??= { inputs: [], ids: new Set() })
    batch.inputs.push(input)
    batch.ids.add(input.id)
  }
  return made.map(({ inputs }) => inputs)
}
