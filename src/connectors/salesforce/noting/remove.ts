import { RetriableError } from '../../../domain/errors.ts'
import type { RemoveResult, WrittenNote } from '../../noting.ts'
import { saveResultsSchema, type SaveError } from '../api/answers.ts'
import type { SalesforceClient } from '../api/client.ts'
import { collectionSize } from '../api/collections.ts'
import { chunk } from '../read.ts'
import { readSaveError } from '../save-error.ts'
import { noFields } from './kinds.ts'

/** Moves notes and tasks to the recycle bin, 200 a call. */
export async function remove(
  client: SalesforceClient,
  written: readonly WrittenNote[],
): Promise<RemoveResult[]> {
  const results = new Map<string, RemoveResult>()
  const ids = [...new Set(written.map(({ id }) => id))]
  const parts = chunk(ids, collectionSize)
  for (const [at, part] of parts.entries()) {
    try {
      const answers = await client.call(saveResultsSchema, {
        method: 'DELETE',
        path: '/composite/sobjects',
        query: { ids: part.join(','), allOrNone: 'false' },
      })
      part.forEach((id, index) => {
        const answer = answers[index]
        results.set(id, answer?.success ? { id, status: 'removed' } : refusalOf(id, answer?.errors[0]))
      })
    } catch (error) {
      if (!(error instanceof RetriableError)) throw error
      const afterMs = error.retryAfterMs ?? 60_000
      for (const id of parts.slice(at).flat())
        results.set(id, { id, status: 'retry', afterMs, reason: error.message })
      break
    }
  }
  return written.map(({ id }) => results.get(id) as RemoveResult)
}

function refusalOf(id: string, error: SaveError | undefined): RemoveResult {
  if (!error) return { id, status: 'retry', afterMs: 60_000, reason: 'Salesforce returned no result for it' }
  const refusal = readSaveError(id, error, noFields)
  if (refusal.status === 'retry')
    return { id, status: 'retry', afterMs: refusal.afterMs, reason: refusal.reason }
  if (refusal.status === 'skipped') return { id, status: 'gone' }
  const { code } = refusal
  const reason = code.startsWith('INSUFFICIENT_ACCESS')
    ? 'the integration user may not delete it: only its owner, and who may delete the record that it belongs to'
    : `Salesforce did not remove it: ${code}`
  return { id, status: 'rejected', code, reason }
}
