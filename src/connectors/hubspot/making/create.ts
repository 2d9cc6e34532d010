import { RetriableError } from '../../../domain/errors.ts'
import { creating } from '../../../domain/mapping/creating.ts'
import type { EntityMapping } from '../../../domain/mapping/mapping.ts'
import { writeStamp } from '../../../domain/mapping/stamp.ts'
import type { CreateResult, RecordDraft } from '../../creating.ts'
import { readRefusal } from '../api/refusal.ts'
import { paths, upsertSchema, type BatchError, type HubspotEntity } from '../api/wire.ts'
import { entityMapping, ownFieldsMissing } from '../properties.ts'
import { writableProperties } from '../records.ts'
import { defaultRetryMs, propertyCodes, stampOf, writeLimit } from '../write.ts'
import { assertCreatable, prepareDraft, type DraftInput } from './draft.ts'
import type { MakerDeps } from './deps.ts'
import { readBy } from './read-by.ts'
import { tieCompanies } from './tie-company.ts'
import { isConflict, verdictOf } from './verdict.ts'

interface Batch {
  inputs: DraftInput[]
  /** These may have been written before: those that are there stay as they are. */
  isRepeat: boolean
  /** The number of times that its outcome could not be known. */
  unclear: number
  /** The contacts that have one of its e-mails were looked up. */
  isLookedUp: boolean
}

/** After so many answers that were lost the drafts go back to the caller, who sends them as a repeat. */
const maxUnclear = 2

interface Making extends MakerDeps {
  entity: HubspotEntity
  entityMap: EntityMapping
  key: string
  settle: (input: DraftInput, result: CreateResult) => void
  /** Fits drafts to the account's properties as they are now, and settles those of which nothing is left. */
  fitAgain: (inputs: readonly DraftInput[], fields: Fields) => DraftInput[]
}

type Fields = Awaited<ReturnType<MakerDeps['properties']['fitting']>>

/**
 * Makes a record of each draft, 100 a call, by an upsert on the property of our key, and returns one result for each in their
 * order.
 *
 * The crash windows: the process ends after HubSpot has made a record and before its id is known, or the answer is lost on the
 * way. Then the same drafts come as repeats, from the caller or from here, and are looked up by their key first, which sees a
 * record at once; what is there is not written again. So an upsert is never repeated blindly by the client.
 *
 * HubSpot can refuse a whole batch for one bad record, and names neither the record nor, of several that exist, more than the
 * first. Contacts that exist are found by one reading of all e-mails; then the batch is halved until the bad records are alone.
 */
export async function create(
  deps: MakerDeps,
  entity: HubspotEntity,
  drafts: readonly RecordDraft[],
): Promise<CreateResult[]> {
  const entityMap = creating(entityMapping(deps.mapping, entity))
  let fields = await deps.properties.fitting(entity)
  if (deps.mapping.key !== undefined && !fields.get(deps.mapping.key)?.unique) {
    // Another process may have created it since the properties were described.
    deps.properties.forget(entity)
    fields = await deps.properties.fitting(entity)
  }
  const key = assertCreatable(deps.mapping, entity, fields, drafts)
  const missing = await deps.properties.missing(entity)
  if (missing.length > 0) throw ownFieldsMissing(entity, missing)

  const results: (CreateResult | undefined)[] = Array.from({ length: drafts.length })
  const first = new Map<string, number>()
  const inputs: DraftInput[] = []
  drafts.forEach((draft, index) => {
    // HubSpot refuses a batch that names a record twice.
    if (first.has(draft.key)) return
    first.set(draft.key, index)
    const prepared = prepareDraft(draft, index, entity, entityMap, fields)
    if ('status' in prepared) results[index] = prepared
    else inputs.push(prepared)
  })
  const settle = ({ index }: DraftInput, result: CreateResult): void => {
    results[index] = result
  }
  const fitAgain: Making['fitAgain'] = (again, now) =>
    again.flatMap(({ index }) => {
      const prepared = prepareDraft(drafts[index] as RecordDraft, index, entity, entityMap, now)
      if (!('status' in prepared)) return [prepared]
      results[index] = prepared
      return []
    })
  const making: Making = { ...deps, entity, entityMap, key, settle, fitAgain }
  const isRepeat = ({ index }: DraftInput): boolean => drafts[index]?.isRepeat === true
  const waiting = [
    ...batches(inputs.filter(isRepeat), true),
    ...batches(
      inputs.filter((input) => !isRepeat(input)),
      false,
    ),
  ]
  for (let batch = waiting.shift(); batch; batch = waiting.shift()) {
    try {
      waiting.unshift(...(await sendBatch(making, batch)))
    } catch (error) {
      const again = error instanceof RetriableError && error.countsAsTry && batch.unclear < maxUnclear
      if (again) {
        waiting.unshift({ ...batch, isRepeat: true, unclear: batch.unclear + 1 })
        continue
      }
      const isAnySettled = inputs.some(({ index }) => results[index] !== undefined)
      if (!(error instanceof RetriableError) && !isAnySettled) throw error
      const afterMs = (error instanceof RetriableError ? error.retryAfterMs : undefined) ?? defaultRetryMs
      const reason = error instanceof RetriableError ? error.message : 'the CRM stopped making records'
      for (const input of [batch, ...waiting].flatMap((each) => each.inputs))
        if (results[input.index] === undefined)
          settle(input, { key: input.key, status: 'retry', afterMs, reason })
      break
    }
  }
  if (entity === 'contacts') await tieCompanies(deps, inputs, results)
  return drafts.map((draft, index) => results[index] ?? sameAs(results[first.get(draft.key) as number]))
}

/** The result of a draft whose key an earlier one has: that one's record. */
function sameAs(result: CreateResult | undefined): CreateResult {
  if (!result) throw new Error('a draft has no result')
  return result.status === 'created' ? { key: result.key, status: 'present', id: result.id } : result
}

/** Sends one batch and settles the drafts that its answer decides. Returns what is still to be sent. */
async function sendBatch(making: Making, batch: Batch): Promise<Batch[]> {
  const { api, mapping, properties, entity, entityMap, key, settle, now } = making
  const inputs = batch.isRepeat ? await withoutPresent(making, batch.inputs) : batch.inputs
  if (inputs.length === 0) return []
  const all = writableProperties(entityMapping(mapping, entity))
  const enrichedAt = new Date(now()).toISOString()
  const answer = await api.call(upsertSchema, {
    method: 'POST',
    path: paths.batchUpsert(entity),
    once: true,
    body: {
      inputs: inputs.map((input) => ({
        id: input.key,
        idProperty: key,
        objectWriteTraceId: String(input.index),
        properties: {
          ...input.properties,
          [key]: input.key,
          ...stampOf(mapping, { status: 'enriched', enrichedAt, source: writeStamp(all, input.properties) }),
        },
      })),
    },
  })
  if (answer.ok) {
    settleAll(making, inputs, answer.data)
    return []
  }
  const { refusal, status } = answer
  const { code } = readRefusal(refusal, status)
  if (propertyCodes.has(code)) {
    // The account's properties changed since they were described: one of the default mapping is left out.
    properties.forget(entity)
    const missing = await properties.missing(entity)
    if (missing.length > 0) throw ownFieldsMissing(entity, missing)
    const fields = await properties.fitting(entity)
    const isStale = inputs.some((input) =>
      Object.keys(input.properties).some((name) => fields.get(name)?.writable !== true),
    )
    if (isStale) return [{ ...batch, inputs: making.fitAgain(inputs, fields) }]
  }
  if (inputs.length === 1) {
    for (const input of inputs) settle(input, verdictOf(input, refusal, status, entityMap))
    return []
  }
  if (isConflict(refusal, status) && entity === 'contacts' && !batch.isLookedUp) {
    const left = await withoutKnownEmails(making, inputs)
    return left.length > 0 ? [{ ...batch, inputs: left, isLookedUp: true }] : []
  }
  const middle = Math.ceil(inputs.length / 2)
  return [inputs.slice(0, middle), inputs.slice(middle)].map((half) => ({ ...batch, inputs: half }))
}

/** Settles the drafts whose record is there, as the first attempt or a person has left it. */
async function withoutPresent(
  { api, entity, key, settle }: Making,
  inputs: readonly DraftInput[],
): Promise<DraftInput[]> {
  const keys = inputs.map((input) => input.key)
  const ids = new Map<string | null | undefined, string>()
  for (const { id, properties } of await readBy(api, entity, key, keys, [])) ids.set(properties[key], id)
  return inputs.filter((input) => {
    const id = ids.get(input.key)
    if (id !== undefined) settle(input, { key: input.key, status: 'present', id })
    return id === undefined
  })
}

/** Settles the drafts whose e-mail a contact has. */
async function withoutKnownEmails(
  { api, entity, settle }: Making,
  inputs: readonly DraftInput[],
): Promise<DraftInput[]> {
  const emails = inputs.flatMap(({ properties }) => properties['email'] ?? [])
  const ids = new Map<string | undefined, string>()
  for (const { id, properties } of await readBy(api, entity, 'email', emails, []))
    ids.set(properties['email']?.toLowerCase(), id)
  return inputs.filter((input) => {
    const email = input.properties['email']?.toLowerCase()
    const id = email === undefined ? undefined : ids.get(email)
    const reason = 'HubSpot has a contact with this e-mail'
    if (id !== undefined) settle(input, { key: input.key, status: 'exists', ids: [id], reason })
    return id === undefined
  })
}

function settleAll(
  { entityMap, key, settle }: Making,
  inputs: readonly DraftInput[],
  { results, errors = [] }: (typeof upsertSchema)['_output'],
): void {
  const failed = new Map<string, BatchError>()
  for (const error of errors) {
    for (const trace of error.context?.['objectWriteTraceId'] ?? []) failed.set(trace, error)
    // Without a trace an error names the value by which the record was to be found.
    for (const id of error.context?.['ids'] ?? []) failed.set(`id ${id}`, error)
  }
  const made = new Map(
    results.flatMap((result) => [
      [`id ${result.properties[key]}`, result] as const,
      ...(result.objectWriteTraceId === undefined ? [] : [[result.objectWriteTraceId, result] as const]),
    ]),
  )
  for (const input of inputs) {
    const names = [String(input.index), `id ${input.key}`]
    const error = names.map((name) => failed.get(name)).find(Boolean)
    const result = names.map((name) => made.get(name)).find(Boolean)
    const leftOut = input.leftOut.length > 0 ? { leftOut: input.leftOut } : {}
    if (error) settle(input, verdictOf(input, error, undefined, entityMap))
    else if (result?.new) settle(input, { key: input.key, status: 'created', id: result.id, ...leftOut })
    else if (result) settle(input, { key: input.key, status: 'present', id: result.id })
    // The record may have been made: only a repeat can tell.
    else
      settle(input, {
        key: input.key,
        status: 'retry',
        afterMs: defaultRetryMs,
        reason: 'HubSpot returned no result for this record',
      })
  }
}

function batches(inputs: readonly DraftInput[], isRepeat: boolean): Batch[] {
  return Array.from({ length: Math.ceil(inputs.length / writeLimit) }, (_, at) => ({
    inputs: inputs.slice(at * writeLimit, (at + 1) * writeLimit),
    isRepeat,
    unclear: 0,
    isLookedUp: false,
  }))
}
