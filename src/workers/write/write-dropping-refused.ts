import type { Connector, LeftOut, RecordPatch, WriteResult } from '../../connectors/connector.ts'
import { RetriableError } from '../../domain/errors.ts'
import type { Patch } from '../../domain/record.ts'

export interface Sent {
  outcome: WriteResult
  /** What was sent at last. */
  patch: Patch
  /** Fields that were refused, and without which the others were sent again. */
  refused: Refused[]
}

export interface Refused extends LeftOut {
  /** By the connector: it never went to the CRM. */
  unsent?: true
}

/**
 * Writes patches, and those of which the CRM refuses one field once more without it: for one bad address nobody's title is
 * lost. Each round takes a field away, so it ends. Answers one result a patch, in order.
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
      // Nothing else fits into the CRM: the refusal is what there is to tell.
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

/** What the first round has written must not be lost with a later one: its records come again instead. */
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
