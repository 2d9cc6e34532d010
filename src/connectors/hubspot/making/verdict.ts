import type { EntityMapping } from '../../../domain/mapping/mapping.ts'
import type { CreateResult } from '../../creating.ts'
import { readRefusal } from '../api/refusal.ts'
import type { BatchError, Refusal } from '../api/wire.ts'
import { refusedRecord } from '../refused-record.ts'
import { passing, passingAfterMs } from '../write.ts'
import type { DraftInput } from './draft.ts'

/**
 * Returns the result of a draft that HubSpot did not make. A record that there is already comes in two forms, both in the text
 * alone: "Contact already exists. Existing ID: 6001" under 409, and for any other unique property "Cannot set
 * PropertyValueCoordinates{…} on 48328838322. 51090765207 already has that value." under 400.
 */
export function verdictOf(
  { key, properties }: DraftInput,
  refusal: Refusal | BatchError,
  status: number | undefined,
  entityMap: EntityMapping,
): CreateResult {
  const { category, message = '', errors = [] } = refusal
  if (category !== undefined && passing.has(category))
    return { key, status: 'retry', afterMs: passingAfterMs, reason: `HubSpot: ${category}` }
  const texts = [message, ...errors.map((error) => error.message ?? '')]
  const ids = [
    ...new Set(
      texts.flatMap((text) =>
        [...text.matchAll(/Existing ID: (\d+)|\. (\d+) already has that value/g)].map(
          ([, existing, owner]) => (existing ?? owner) as string,
        ),
      ),
    ),
  ]
  if (isConflict(refusal, status) || ids.length > 0) {
    const property = /propertyName=([a-z][a-z0-9_]*)/.exec(message)?.[1]
    return {
      key,
      status: 'exists',
      ids,
      reason:
        property === undefined
          ? 'HubSpot has a contact with this e-mail'
          : `HubSpot has a record with this value of ${property}, which is unique`,
    }
  }
  return { key, status: 'rejected', ...refusedRecord(readRefusal(refusal, status), properties, entityMap) }
}

export function isConflict({ category }: Refusal | BatchError, status: number | undefined): boolean {
  return status === 409 || category === 'CONFLICT' || category === 'OBJECT_ALREADY_EXISTS'
}
