import { z } from 'zod'
import { RetriableError } from '../../../domain/errors.ts'
import type { RemoveResult, WrittenNote } from '../../noting.ts'
import { readRefusal } from '../api/refusal.ts'
import { paths, type HubspotEntity } from '../api/wire.ts'
import { batchRead } from '../records.ts'
import { defaultRetryMs, writeLimit } from '../write.ts'
import type { NotingDeps } from './deps.ts'
import { objectOf } from './kinds.ts'
import { readStamps, renewStamps } from './own-stamps.ts'

/** Moves notes and tasks to the recycle bin, 100 a call. HubSpot says nothing of ids that none has: so they are read first. */
export async function remove(
  deps: NotingDeps,
  entity: HubspotEntity,
  written: readonly WrittenNote[],
): Promise<RemoveResult[]> {
  const results = new Map<string, RemoveResult>()
  const stamps = await readStamps(deps, entity, [...new Set(written.map(({ recordId }) => recordId))])
  for (const [kind, group] of Map.groupBy(written, (each) => each.kind)) {
    const object = objectOf[kind]
    const there = await batchRead(
      deps.api,
      object,
      group.map(({ id }) => id),
      ['hs_object_id'],
    )
    for (const { id } of group) if (!there.has(id)) results.set(id, { id, status: 'gone' })
    const ids = [...there.keys()]
    for (let at = 0; at < ids.length; at += writeLimit) {
      const batch = ids.slice(at, at + writeLimit)
      try {
        const answer = await deps.api.call(z.unknown(), {
          method: 'POST',
          path: paths.batchArchive(object),
          body: { inputs: batch.map((id) => ({ id })) },
        })
        const code = answer.ok ? undefined : readRefusal(answer.refusal, answer.status).code
        for (const id of batch)
          results.set(
            id,
            code === undefined
              ? { id, status: 'removed' }
              : { id, status: 'rejected', code, reason: `HubSpot did not remove the ${kind}: ${code}` },
          )
      } catch (error) {
        if (!(error instanceof RetriableError)) throw error
        const afterMs = error.retryAfterMs ?? defaultRetryMs
        for (const id of ids.slice(at))
          results.set(id, { id, status: 'retry', afterMs, reason: error.message })
        break
      }
    }
  }
  const changed = written.flatMap(({ id, recordId }) =>
    results.get(id)?.status === 'removed' ? [stamps.ids.get(recordId) ?? ''] : [],
  )
  await renewStamps(deps, entity, stamps, new Set(changed))
  return written.map(({ id }) => results.get(id) as RemoveResult)
}
