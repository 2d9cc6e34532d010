import { z } from 'zod'
import { RetriableError } from '../../../domain/errors.ts'
import type { ArchiveResult } from '../../creating.ts'
import { readRefusal } from '../api/refusal.ts'
import { paths, type HubspotEntity } from '../api/wire.ts'
import { batchRead } from '../records.ts'
import { defaultRetryMs, writeLimit } from '../write.ts'
import type { MakerDeps } from './deps.ts'

/**
 * Moves records to the recycle bin, 100 a call. HubSpot says nothing of ids that no record has, and would archive the record into
 * which one was merged: so they are read first. A batch that is refused is halved down to the bad record.
 */
export async function archive(
  { api }: MakerDeps,
  entity: HubspotEntity,
  ids: readonly string[],
): Promise<ArchiveResult[]> {
  const results = new Map<string, ArchiveResult>()
  const there = await batchRead(api, entity, ids, ['hs_object_id'])
  const waiting: string[][] = [[]]
  for (const id of new Set(ids)) {
    if (there.get(id)?.id !== id) results.set(id, { id, status: 'gone' })
    else if (waiting.at(-1)!.length < writeLimit) waiting.at(-1)!.push(id)
    else waiting.push([id])
  }
  for (let batch = waiting.shift(); batch; batch = waiting.shift()) {
    if (batch.length === 0) continue
    try {
      const answer = await api.call(z.unknown(), {
        method: 'POST',
        path: paths.batchArchive(entity),
        body: { inputs: batch.map((id) => ({ id })) },
      })
      if (answer.ok) for (const id of batch) results.set(id, { id, status: 'archived' })
      else if (batch.length > 1) {
        const middle = Math.ceil(batch.length / 2)
        waiting.unshift(batch.slice(0, middle), batch.slice(middle))
      } else {
        const [id = ''] = batch
        const { code } = readRefusal(answer.refusal, answer.status)
        results.set(id, {
          id,
          status: 'rejected',
          code,
          reason: `HubSpot did not archive the record: ${code}`,
        })
      }
    } catch (error) {
      if (!(error instanceof RetriableError)) throw error
      const afterMs = error.retryAfterMs ?? defaultRetryMs
      for (const id of [batch, ...waiting].flat())
        results.set(id, { id, status: 'retry', afterMs, reason: error.message })
      break
    }
  }
  return ids.map((id) => results.get(id) as ArchiveResult)
}
