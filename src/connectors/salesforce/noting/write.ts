import { PaydirtError, RetriableError } from '../../../domain/errors.ts'
import { oneLine, plainNote } from '../../../domain/notes/text.ts'
import type { NoteDraft, NoteResult } from '../../noting.ts'
import { RefusedRequestError, isPassing } from '../api/api-error.ts'
import { saveResultsSchema, type SaveError } from '../api/answers.ts'
import type { SalesforceClient } from '../api/client.ts'
import { collectionSize } from '../api/collections.ts'
import { longId } from '../ids.ts'
import { chunk } from '../read.ts'
import { readSaveError } from '../save-error.ts'
import { noFields, objectOf, tieOf, type NoteObject } from './kinds.ts'

/** The lengths of `Note.Body` and `Task.Description`, `Note.Title` and `Task.Subject`. */
const textLimit = 32_000
const titleLimits: Readonly<Record<NoteObject, number>> = { Note: 80, Task: 255 }
const defaultRetryMs = 60_000

interface Deps {
  client: SalesforceClient
  inTurn: <T>(entity: string, send: () => Promise<T>) => Promise<T>
}

interface Sent {
  draft: NoteDraft
  index: number
  recordId: string
}

/**
 * Writes notes and tasks, 200 a call, each a row with its tie to the record. A request that is refused for its content is halved until the
 * faulty rows are alone. One whose answer is lost is never repeated: there is no unique field, and it would make a second note.
 */
export async function write(
  deps: Deps,
  entity: string,
  keyPrefix: string,
  drafts: readonly NoteDraft[],
): Promise<NoteResult[]> {
  const results: (NoteResult | undefined)[] = drafts.map(() => undefined)
  const sent = drafts.flatMap((draft, index): Sent[] => {
    const recordId = longId(draft.recordId, keyPrefix)
    if (recordId !== undefined) return [{ draft, index, recordId }]
    results[index] = gone(draft)
    return []
  })
  const waiting = [...Map.groupBy(sent, ({ draft }) => objectOf[draft.kind])].flatMap(([object, group]) =>
    chunk(group, collectionSize).map((part) => ({ object, part })),
  )
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const { object, part } = next
    try {
      await sendPart(deps, entity, object, part, results)
    } catch (error) {
      if (!(error instanceof PaydirtError)) throw error
      if (error instanceof RefusedRequestError && part.length > 1) {
        const middle = Math.ceil(part.length / 2)
        waiting.unshift({ object, part: part.slice(0, middle) }, { object, part: part.slice(middle) })
        continue
      }
      if (error instanceof RefusedRequestError) {
        const [only] = part as [Sent]
        const refusal = { statusCode: error.errorCode, message: error.said, fields: [] }
        results[only.index] = resultOf(only.draft, object, entity, refusal)
        continue
      }
      const isAnySent = results.some((result) => result?.status === 'written')
      if (!isAnySent && !(error instanceof RetriableError)) throw error
      const isUnclear = isPassing(error)
      const afterMs = (error instanceof RetriableError ? error.retryAfterMs : undefined) ?? defaultRetryMs
      const reason = error.message
      for (const { draft, index } of part)
        results[index] = isUnclear
          ? { marker: draft.marker, status: 'unclear', reason }
          : { marker: draft.marker, status: 'retry', afterMs, reason }
      for (const { draft, index } of waiting.flatMap((each) => each.part))
        results[index] = { marker: draft.marker, status: 'retry', afterMs, reason }
      break
    }
  }
  return results as NoteResult[]
}

async function sendPart(
  { client, inTurn }: Deps,
  entity: string,
  object: NoteObject,
  part: readonly Sent[],
  results: (NoteResult | undefined)[],
): Promise<void> {
  // In turn with the records themselves: a task locks the record that it is about.
  const answers = await inTurn(entity, () =>
    client.call(saveResultsSchema, {
      method: 'POST',
      path: '/composite/sobjects',
      json: {
        allOrNone: false,
        records: part.map(({ draft, recordId }) => ({
          attributes: { type: object },
          [tieOf(object, entity)]: recordId,
          ...valuesOf(draft, object),
        })),
      },
      isRepeatable: false,
    }),
  )
  part.forEach(({ draft, index }, at) => {
    const { marker } = draft
    const answer = answers[at]
    const [error] = answer?.errors ?? []
    if (answer?.success && answer.id) results[index] = { marker, status: 'written', id: answer.id }
    else if (error) results[index] = resultOf(draft, object, entity, error)
    else results[index] = { marker, status: 'unclear', reason: 'Salesforce returned no result for it' }
  })
}

/** Status and priority are left to the org, whose picklists have values of its own. */
function valuesOf(draft: NoteDraft, object: NoteObject): Record<string, string> {
  const { title, dueAt, ownerId } = draft
  const owner: Record<string, string> = ownerId === undefined ? {} : { OwnerId: longId(ownerId) ?? ownerId }
  const text = plainNote(draft, textLimit)
  if (object === 'Note') return { Title: oneLine(title, titleLimits.Note) || 'Paydirt', Body: text, ...owner }
  return {
    Subject: oneLine(title, titleLimits.Task),
    Description: text,
    ...(dueAt === undefined ? {} : { ActivityDate: dueAt.toISOString().slice(0, 10) }),
    ...owner,
  }
}

function resultOf(draft: NoteDraft, object: NoteObject, entity: string, error: SaveError): NoteResult {
  const { marker } = draft
  const isOfRecord = error.fields.length === 0 || error.fields.includes(tieOf(object, entity))
  if (isOfRecord && goneCodes.has(error.statusCode)) return gone(draft)
  const refusal = readSaveError('', error, noFields)
  if (refusal.status === 'retry')
    return { marker, status: 'retry', afterMs: refusal.afterMs, reason: refusal.reason }
  if (refusal.status === 'skipped') return { marker, status: 'skipped', reason: refusal.reason }
  const { code } = refusal
  const reason = reasons[code] ?? `Salesforce did not take the ${draft.kind}: ${code}`
  return { marker, status: 'rejected', code, reason }
}

const goneCodes: ReadonlySet<string> = new Set(['ENTITY_IS_DELETED', 'INVALID_CROSS_REFERENCE_KEY'])
const reasons: Readonly<Record<string, string>> = {
  INACTIVE_OWNER_OR_USER: 'the owner has left the org',
}

function gone({ marker }: NoteDraft): NoteResult {
  return { marker, status: 'skipped', reason: 'the record is gone' }
}
