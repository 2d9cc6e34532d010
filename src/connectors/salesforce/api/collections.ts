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
  | { kind: 'done' }
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
export async function updateCollection(
  client: SalesforceClient,
  sobject: string,
  updates: readonly Update[],
  headers: WriteHeaders,
): Promise<Outcome[]> {
  try {
    const results = await client.call(saveResultsSchema, {
      method: 'PATCH',
      path: '/composite/sobjects',
      json: {
        allOrNone: false,
        records: updates.map(({ id, body }) => ({ attributes: { type: sobject }, id, ...body })),
      },
      headers: headerLines(headers),
      // Writing the same values again changes nothing, so the request is repeated after a lost answer.
      isRepeatable: true,
    })
    return updates.map((_, at) => toOutcome(results[at]))
  } catch (error) {
    if (!(error instanceof RefusedRequestError) || error.errorCode === 'INVALID_FIELD') throw error
    if (updates.length === 1)
      return [{ kind: 'failed', error: { statusCode: error.errorCode, message: error.said, fields: [] } }]
    const half = Math.ceil(updates.length / 2)
    return [
      ...(await updateCollection(client, sobject, updates.slice(0, half), headers)),
      ...(await updateCollection(client, sobject, updates.slice(half), headers)),
    ]
  }
}

function toOutcome(result: { success: boolean; errors: SaveError[] } | undefined): Outcome {
  if (result?.success) return { kind: 'done' }
  const [error] = result?.errors ?? []
  if (error) return { kind: 'failed', error }
  return { kind: 'deferred', afterMs: 60_000, reason: 'Salesforce returned no result for the record' }
}

function headerLines({ allowDuplicates = false, autoAssign = false }: WriteHeaders): Record<string, string> {
  return {
    'Sforce-Duplicate-Rule-Header': `allowSave=${allowDuplicates}`,
    'Sforce-Auto-Assign': typeof autoAssign === 'string' ? autoAssign : autoAssign ? 'TRUE' : 'FALSE',
  }
}
