import type { Connector, LeftOut, RecordPatch, WriteResult } from '../../connectors/connector.ts'
import { RetriableError } from '../../domain/errors.ts'
import type { Patch } from '../../domain/record.ts'

export interface Sent {
  outcome: WriteResult
  /** The patch as it was sent last. */
  patch: Patch
  /** Fields that were refused. The others were sent again without them. */
  refused: Refused[]
}

export interface Refused extends LeftOut {
  /** Set when the connector refused it, so that it was never sent to the CRM. */
  unsent?: true
}

/**
 * Writes patches. A patch with a refused field is written again without the field, so that one bad value does not cost
 * the others. Each round drops a field, so the loop ends. Returns one result a patch, in order.
 */
export async function writeAccepted(
  connector: Pick<Connector, 'write'>,
  entity: string,
  patches: readonly RecordPatch[],
): Promise<Sent[]> {
  const sent: Sent[] = []
  let waiting = patches.map((patch, index) => ({ ...patch, index, refused: [] as Refused[] }))
  while (waiting.length > 0) {
    const outcomes = await writeRound(connector, entity, waiting, sent.length > 0)
    const again: typeof waiting = []
    outcomes.forEach((outcome, at) => {
      const each = waiting[at] as (typeof waiting)[number]
      const { index, patch, refused } = each
      const bad = outcome.status === 'rejected' ? outcome : undefined
      const field = bad?.field !== undefined && Object.hasOwn(patch, bad.field) ? bad.field : undefined
      if (bad && field !== undefined && Object.keys(patch).length > 1) {
        const { [field]: _, ...rest } = patch
        again.push({ ...each, patch: rest, refused: [...refused, { ...bad, field }] })
        return
      }
      // No other field of the patch fits the CRM, so the refusal is the result.
      const [first] = refused
      const isNothing = outcome.status === 'unchanged' && first
      sent[index] = {
        outcome: isNothing ? { ...first, id: outcome.id, status: 'rejected' } : outcome,
        patch,
        refused,
      }
    })
    waiting = again
  }
  return sent
}

/** Writes one round. When a later round fails, its records are retried, so that the first round's results are not lost. */
async function writeRound(
  connector: Pick<Connector, 'write'>,
  entity: string,
  patches: readonly RecordPatch[],
  isLater: boolean,
): Promise<WriteResult[]> {
  try {
    return await connector.write(
      entity,
      patches.map(({ id, patch }) => ({ id, patch })),
    )
  } catch (error) {
    if (!isLater || !(error instanceof RetriableError)) throw error
    const afterMs = error.retryAfterMs ?? 2_000
    return patches.map(({ id }): WriteResult => ({ id, status: 'retry', afterMs, reason: error.message }))
  }
}
