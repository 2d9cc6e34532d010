import { PaydirtError, RetriableError } from '../../../domain/errors.ts'
import { htmlNote, oneLine } from '../../../domain/notes/text.ts'
import type { NoteDraft, NoteResult } from '../../noting.ts'
import { readRefusal } from '../api/refusal.ts'
import { batchSchema, paths, type BatchError, type HubspotEntity } from '../api/wire.ts'
import { defaultRetryMs, passing, passingAfterMs, writeLimit } from '../write.ts'
import type { NotingDeps } from './deps.ts'
import { associationTypes, objectOf, type NoteObject } from './kinds.ts'
import { readStamps, renewStamps } from './own-stamps.ts'

/** HubSpot stores 65,536 characters of a body. */
const bodyLimit = 65_000
const subjectLimit = 255

/** Errors after which nobody knows if the request was carried out. */
const unclearCodes: ReadonlySet<string> = new Set([
  'hubspot_timeout',
  'hubspot_unreachable',
  'hubspot_unavailable',
  'hubspot_bad_answer',
])

interface Sent {
  draft: NoteDraft
  /** The place of the draft among all, also its trace id in HubSpot's answer. */
  index: number
  /** The record's id now: another one, where it was merged. */
  recordId: string
}

/**
 * Writes notes and tasks, 100 a call, each with its tie to the record: HubSpot makes both or neither. A batch that is refused as a whole
 * is halved down to the bad draft. A request whose answer is lost is never repeated: HubSpot has no unique field here, and would make a
 * second note.
 */
export async function write(
  deps: NotingDeps,
  entity: HubspotEntity,
  drafts: readonly NoteDraft[],
): Promise<NoteResult[]> {
  const results: (NoteResult | undefined)[] = drafts.map(() => undefined)
  const stamps = await readStamps(deps, entity, [...new Set(drafts.map(({ recordId }) => recordId))])
  const sent = drafts.flatMap((draft, index): Sent[] => {
    const recordId = stamps.ids.get(draft.recordId)
    if (recordId !== undefined) return [{ draft, index, recordId }]
    results[index] = { marker: draft.marker, status: 'skipped', reason: 'the record is gone' }
    return []
  })
  const waiting = [...Map.groupBy(sent, ({ draft }) => objectOf[draft.kind])].flatMap(([object, group]) =>
    Array.from({ length: Math.ceil(group.length / writeLimit) }, (_, at) => ({
      object,
      batch: group.slice(at * writeLimit, (at + 1) * writeLimit),
    })),
  )
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const { object, batch } = next
    try {
      if (await sendBatch(deps, entity, object, batch, results)) continue
      const middle = Math.ceil(batch.length / 2)
      waiting.unshift({ object, batch: batch.slice(0, middle) }, { object, batch: batch.slice(middle) })
    } catch (error) {
      if (!(error instanceof PaydirtError)) throw error
      const isUnclear = unclearCodes.has(error.code)
      const isAnySent = results.some((result) => result?.status === 'written')
      if (!isUnclear && !isAnySent && !(error instanceof RetriableError)) throw error
      const afterMs = (error instanceof RetriableError ? error.retryAfterMs : undefined) ?? defaultRetryMs
      const reason = error.message
      for (const { draft, index } of batch)
        results[index] = isUnclear
          ? { marker: draft.marker, status: 'unclear', reason }
          : { marker: draft.marker, status: 'retry', afterMs, reason }
      for (const { draft, index } of waiting.flatMap((each) => each.batch))
        results[index] = { marker: draft.marker, status: 'retry', afterMs, reason }
      break
    }
  }
  const changed = sent.filter(({ index }) => results[index]?.status === 'written')
  await renewStamps(deps, entity, stamps, new Set(changed.map(({ recordId }) => recordId)))
  return results as NoteResult[]
}

/** Returns false where the batch was refused as a whole and must be halved. */
async function sendBatch(
  { api, now }: NotingDeps,
  entity: HubspotEntity,
  object: NoteObject,
  batch: readonly Sent[],
  results: (NoteResult | undefined)[],
): Promise<boolean> {
  const answer = await api.call(batchSchema, {
    method: 'POST',
    path: `${paths.objects(object)}/batch/create`,
    once: true,
    body: {
      inputs: batch.map(({ draft, index, recordId }) => ({
        objectWriteTraceId: String(index),
        properties: propertiesOf(draft, now()),
        associations: [
          {
            to: { id: recordId },
            types: [
              {
                associationCategory: 'HUBSPOT_DEFINED',
                associationTypeId: associationTypes[object][entity],
              },
            ],
          },
        ],
      })),
    },
  })
  if (!answer.ok) {
    if (batch.length > 1) return false
    for (const { draft, index } of batch)
      results[index] = rejected(draft, readRefusal(answer.refusal, answer.status).code)
    return true
  }
  const made = new Map(answer.data.results.map(({ id, objectWriteTraceId }) => [objectWriteTraceId, id]))
  const failed = new Map<string, BatchError>()
  for (const error of answer.data.errors ?? [])
    for (const trace of error.context?.['objectWriteTraceId'] ?? []) failed.set(trace, error)
  for (const { draft, index } of batch) {
    const { marker } = draft
    const [id, error] = [made.get(String(index)), failed.get(String(index))]
    if (id !== undefined) results[index] = { marker, status: 'written', id }
    else if (error && passing.has(error.category))
      results[index] = {
        marker,
        status: 'retry',
        afterMs: passingAfterMs,
        reason: `HubSpot: ${error.category}`,
      }
    else if (error) results[index] = rejected(draft, readRefusal(error).code)
    else results[index] = { marker, status: 'unclear', reason: 'HubSpot returned no result for it' }
  }
  return true
}

function rejected({ kind, marker }: NoteDraft, code: string): NoteResult {
  return { marker, status: 'rejected', code, reason: `HubSpot did not take the ${kind}: ${code}` }
}

function propertiesOf(draft: NoteDraft, nowMs: number): Record<string, string> {
  const { kind, dueAt, ownerId } = draft
  const owner = ownerId === undefined ? {} : { hubspot_owner_id: ownerId }
  if (kind === 'note')
    return {
      hs_timestamp: new Date(nowMs).toISOString(),
      hs_note_body: htmlNote(draft, bodyLimit),
      ...owner,
    }
  return {
    hs_timestamp: (dueAt ?? new Date(nowMs)).toISOString(),
    hs_task_subject: oneLine(draft.title, subjectLimit),
    hs_task_body: htmlNote({ ...draft, title: '' }, bodyLimit),
    hs_task_status: 'NOT_STARTED',
    hs_task_type: 'TODO',
    ...owner,
  }
}
