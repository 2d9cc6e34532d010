import type { z } from 'zod'
import type { FieldValue } from '../../../domain/record.ts'
import { RefusedRequestError } from './api-error.ts'
import { saveResultsSchema, type SaveError } from './answers.ts'
import type { SalesforceClient } from './client.ts'

export interface WriteHeaders {
  /** Save although a duplicate rule that only warns finds another record. Default false. */
  allowDuplicates?: boolean | undefined
  /**
   * Run the assignment rule of leads: the active one, or the one with this id. Default false: enriching a lead must not
   * move it to another owner.
   */
  autoAssign?: boolean | string | undefined
}

/** The fields of one record as they are sent: null clears a field, and "" is never among the values. */
export type Body = Record<string, FieldValue | null>

/** One record to update. */
export interface Update {
  /** The index of its patch. */
  index: number
  /** The id in its 18-character form. */
  id: string
  body: Body
}

export type Outcome =
  | { kind: 'done'; id?: string | undefined }
  | { kind: 'failed'; error: SaveError }
  /** Not carried out; the reason, and when to try again. */
  | { kind: 'deferred'; afterMs: number; reason: string }
  /** Not carried out by a bulk job that failed as a whole. Sent as a collection, each record gets its own answer. */
  | { kind: 'unsent' }

export const collectionSize = 200

/**
 * Updates at most 200 records in one request, each independent of the others, and returns one outcome for each, in
 * order. A request that is refused for its content is halved until the faulty records are alone. Throws
 * RefusedRequestError `INVALID_FIELD` when the org does not have a field (any more), which is the fault of no record.
 */
export function updateCollection(
  client: SalesforceClient,
  sobject: string,
  updates: readonly Update[],
  headers: WriteHeaders,
): Promise<Outcome[]> {
  // Writing the same values again changes nothing, so the request is repeated after a lost answer.
  return saveHalving(updates, (part) =>
    client.call(saveResultsSchema, {
      method: 'PATCH',
      path: '/composite/sobjects',
      json: {
        allOrNone: false,
        records: part.map(({ id, body }) => ({ attributes: { type: sobject }, id, ...body })),
      },
      headers: headerLines(headers),
      isRepeatable: true,
    }),
  )
}

/**
 * Makes at most 200 records in one request, as `updateCollection` updates them. Each has a value of its own in a unique field, so
 * that a request repeated after a lost answer makes nothing twice.
 */
export function insertCollection(
  client: SalesforceClient,
  sobject: string,
  insertions: readonly { body: Body }[],
  headers: WriteHeaders,
): Promise<Outcome[]> {
  return saveHalving(insertions, (part) =>
    client.call(saveResultsSchema, {
      method: 'POST',
      path: '/composite/sobjects',
      json: {
        allOrNone: false,
        records: part.map(({ body }) => ({ attributes: { type: sobject }, ...body })),
      },
      headers: headerLines(headers),
      isRepeatable: true,
    }),
  )
}

type SaveResults = z.output<typeof saveResultsSchema>

async function saveHalving<T>(
  records: readonly T[],
  send: (part: readonly T[]) => Promise<SaveResults>,
): Promise<Outcome[]> {
  try {
    const results = await send(records)
    return records.map((_, at) => toOutcome(results[at]))
  } catch (error) {
    if (!(error instanceof RefusedRequestError) || error.errorCode === 'INVALID_FIELD') throw error
    if (records.length === 1)
      return [{ kind: 'failed', error: { statusCode: error.errorCode, message: error.said, fields: [] } }]
    const half = Math.ceil(records.length / 2)
    return [
      ...(await saveHalving(records.slice(0, half), send)),
      ...(await saveHalving(records.slice(half), send)),
    ]
  }
}

function toOutcome(result: SaveResults[number] | undefined): Outcome {
  if (result?.success) return { kind: 'done', ...(result.id ? { id: result.id } : {}) }
  const [error] = result?.errors ?? []
  if (error) return { kind: 'failed', error }
  return { kind: 'deferred', afterMs: 60_000, reason: 'Salesforce returned no result for the record' }
}

export function headerLines({
  allowDuplicates = false,
  autoAssign = false,
}: WriteHeaders): Record<string, string> {
  return {
    'Sforce-Duplicate-Rule-Header': `allowSave=${allowDuplicates}`,
    'Sforce-Auto-Assign': typeof autoAssign === 'string' ? autoAssign : autoAssign ? 'TRUE' : 'FALSE',
  }
}
