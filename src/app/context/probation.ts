import { operations, type Operation } from '../../domain/words.ts'
import type { Catalogue } from '../../service/catalogue/catalogue.ts'
import { otherPath } from '../../service/calls/prepare-call.ts'
import { urlOf } from '../../service/urls.ts'
import { releaseProbe, takeProbe } from '../../store/contract/operation-probes.ts'
import {
  confirm,
  operationStates,
  stopOperation,
  unparkMoved,
  type OperationPart,
} from '../../store/contract/operation-states.ts'
import type { Database } from '../../store/database/database.ts'
import { createProbation, type Probation, type ProbationPlace } from '../../workers/lookup/probation.ts'
import type { Config } from '../config/config.ts'
import { moduleLog, type Log } from './log.ts'

export interface ProbationParts {
  config: Pick<Config, 'catalogue'>
  log: Log
  db: Database
  serviceUrl: string
  now: () => Date
}

/** Opens the probation of operations. Lookups that waited for an operation which the settings have moved become due. */
export async function openProbation({
  config,
  log,
  db,
  serviceUrl,
  now,
}: ProbationParts): Promise<Probation> {
  const placeOf = (operation: Operation, part: OperationPart) =>
    placeIn(config.catalogue, serviceUrl, operation, part)
  const places = operations.flatMap((operation) =>
    parts.flatMap((part) => {
      const place = placeOf(operation, part)
      return place ? [{ operation, part, place: place.place }] : []
    }),
  )
  await unparkMoved(db, places, now())
  return createProbation({
    placeOf: (operation, part, request) =>
      // A path that a person names for one call says nothing about the operation.
      Object.hasOwn(request, otherPath) ? undefined : placeOf(operation, part),
    store: {
      take: (place, taking) => takeProbe(db, place, taking),
      release: (place, key) => releaseProbe(db, place, key, now()),
      confirm: (place) => confirm(db, place, now()),
      stop: (place, cause) => stopOperation(db, place, cause, now()),
      states: () => operationStates(db),
    },
    now,
    onStopped: ({ operation, place }, reason) => moduleLog(log, 'service').warn({ operation, place }, reason),
  })
}

const parts = ['', 'batch', 'answer'] as const satisfies OperationPart[]
const furtherPaths = { batch: 'batch', answer: 'batchQuery' } as const

/** Returns undefined for an address that the service's description shows and no setting has changed. */
export function placeIn(
  catalogue: Catalogue,
  serviceUrl: string,
  operation: Operation,
  part: OperationPart,
): ProbationPlace | undefined {
  const { method, path, more, setting, timeoutMs } = catalogue.of(operation)
  const claim = part === '' ? path : more?.[furtherPaths[part]]
  if (!claim) return undefined
  const isChanged = part === '' && (setting.path !== undefined || setting.method !== undefined)
  if (claim.origin !== 'assumed' && !isChanged) return undefined
  return { operation, part, place: `${method.value} ${urlOf(serviceUrl, claim.value)}`, timeoutMs }
}
