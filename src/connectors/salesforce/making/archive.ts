import type { ArchiveResult } from '../../creating.ts'
import { saveResultsSchema } from '../api/answers.ts'
import { collectionSize } from '../api/collections.ts'
import { RetriableError, PaydirtError } from '../../../domain/errors.ts'
import { longId } from '../ids.ts'
import type { EntityMapping } from '../../../domain/mapping/mapping.ts'
import { chunk } from '../read.ts'
import { readSaveError } from '../save-error.ts'
import type { MakerDeps } from './deps.ts'

/**
 * Moves records to the recycle bin, 200 a call. Only the owner of a record, a user above the owner and one with Modify All may: the
 * refusal says so. The failure of a whole request is thrown while nothing was archived, and makes the rest `retry` after that.
 */
export async function archiveRecords(
  { client, schema, mapping, inTurn }: MakerDeps,
  entity: string,
  ids: readonly string[],
): Promise<ArchiveResult[]> {
  const { keyPrefix } = await schema.describe(entity)
  const asked = [...new Set(ids.flatMap((id) => longId(id, keyPrefix) ?? []))]
  const results = new Map<string, ArchiveResult>()
  for (const part of chunk(asked, collectionSize)) {
    try {
      const answers = await inTurn(() =>
        client.call(saveResultsSchema, {
          method: 'DELETE',
          path: '/composite/sobjects',
          query: { ids: part.join(','), allOrNone: 'false' },
        }),
      )
      part.forEach((id, at) =>
        results.set(id, resultOf(id, answers[at], mapping.entities[entity] as EntityMapping)),
      )
    } catch (error) {
      const isAnyArchived = [...results.values()].some(({ status }) => status === 'archived')
      if (!isAnyArchived || !(error instanceof PaydirtError)) throw error
      const afterMs = (error instanceof RetriableError ? error.retryAfterMs : undefined) ?? 60_000
      for (const id of asked)
        if (!results.has(id)) results.set(id, { id, status: 'retry', afterMs, reason: error.message })
      break
    }
  }
  return ids.map((id) => {
    const result = results.get(longId(id, keyPrefix) ?? '')
    return result ? { ...result, id } : { id, status: 'gone' }
  })
}

function resultOf(
  id: string,
  answer: ReturnType<(typeof saveResultsSchema)['parse']>[number] | undefined,
  mapping: EntityMapping,
): ArchiveResult {
  if (answer?.success) return { id, status: 'archived' }
  const [error] = answer?.errors ?? []
  if (!error)
    return { id, status: 'retry', afterMs: 60_000, reason: 'Salesforce returned no result for the record' }
  const refusal = readSaveError(id, error, mapping)
  if (refusal.status === 'retry') return refusal
  if (refusal.status === 'skipped') return { id, status: 'gone' }
  const { code } = refusal
  return {
    id,
    status: 'rejected',
    code,
    reason: code.startsWith('INSUFFICIENT_ACCESS')
      ? noRight
      : code === 'DELETE_FAILED'
        ? stillTied
        : refusal.reason,
  }
}

const noRight =
  'the integration user may not delete this record: only its owner, a user above the owner and one with Modify All may'
const stillTied = 'Salesforce keeps the record because of others that are tied to it'
