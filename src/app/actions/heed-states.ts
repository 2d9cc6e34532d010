import { errorCode } from '../../domain/error-codes.ts'
import { AccessRefusedError, OperationStoppedError } from '../../domain/errors.ts'
import type { Fact } from '../../domain/record.ts'
import type { Operation } from '../../domain/words.ts'
import { otherPath } from '../../service/calls/prepare-call.ts'
import { confirm, operationStates, stopOperation } from '../../store/contract/operation-states.ts'
import { refusedReason, stopReason } from '../../workers/lookup/stop-reason.ts'
import type { Context } from '../context/context.ts'
import { placeIn } from '../context/probation.ts'

/**
 * Performs a request of an operation that may be unconfirmed. The command of an action has one request in flight anyway, so of
 * probation (workers/lookup/probation.ts) it needs the states alone. Throws OperationStoppedError for a stopped operation,
 * without a request, and when this answer stops it.
 */
export async function heedStates(
  { config, database: { db }, now }: Pick<Context, 'config' | 'database' | 'now'>,
  operation: Operation,
  request: Readonly<Record<string, unknown>>,
  perform: () => Promise<Fact>,
): Promise<Fact> {
  const place = Object.hasOwn(request, otherPath)
    ? undefined
    : placeIn(config.catalogue, config.serviceUrl ?? '', operation, '')
  if (!place) return perform()
  const known = (await operationStates(db)).find(
    (each) => each.operation === operation && each.part === '' && (each.place ?? place.place) === place.place,
  )
  if (known?.state === 'stopped')
    throw new OperationStoppedError(errorCode.operationStopped, known.reason ?? '')

  async function stop(code: string, reason: string, status?: unknown): Promise<OperationStoppedError> {
    if (place) await stopOperation(db, place, { code, reason }, now())
    return new OperationStoppedError(errorCode.operationStopped, reason, {
      details: { status: Number(status ?? 0) },
    })
  }

  try {
    const fact = await perform()
    if (known) return fact
    if (fact.outcome === 'unreadable')
      await stop(
        'unreadable',
        stopReason(place, 'its first answer could not be read as expected; the answer is in the ledger'),
      )
    else await confirm(db, place, now())
    return fact
  } catch (error) {
    if (known || !(error instanceof AccessRefusedError)) throw error
    const { status } = error.details
    // A path that names a monitor answers so for one that is gone, too.
    if (status === 404 && config.catalogue.of(operation).path.value.includes('{')) throw error
    throw await stop(error.code, refusedReason(place, error), status)
  }
}
