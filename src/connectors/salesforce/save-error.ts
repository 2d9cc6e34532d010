import { canonicalOf, type EntityMapping } from '../../domain/mapping/mapping.ts'
import type { WriteResult } from '../connector.ts'
import type { SaveError } from './api/answers.ts'

type Refusal = Exclude<WriteResult, { status: 'written' | 'unchanged' }>

const busyMs = 30_000

/**
 * Returns the result of a patch for one record's error. Salesforce's messages quote values: for the codes known here
 * the message is replaced, and from others everything that could be a value is removed.
 */
export function readSaveError(id: string, error: SaveError, mapping: EntityMapping): Refusal {
  const code = error.statusCode
  const property = error.fields[0]
  if (code === 'ENTITY_IS_DELETED' || isUnknownId(error))
    return { id, status: 'skipped', reason: 'the record is gone' }
  if (code === 'CANNOT_UPDATE_CONVERTED_LEAD')
    return { id, status: 'skipped', reason: 'the lead was converted' }
  if (isRowLock(error))
    return { id, status: 'retry', afterMs: busyMs, reason: 'another process has locked the record' }
  if (passing.has(code))
    return { id, status: 'retry', afterMs: busyMs, reason: `Salesforce is busy (${code})` }
  const known = reasons[code] ?? (code.startsWith('INSUFFICIENT_ACCESS') ? noAccess : undefined)
  return {
    id,
    status: 'rejected',
    code,
    ...(property === undefined ? {} : { field: canonicalOf(mapping, property) ?? property }),
    // The message of a validation rule, which an administrator wrote for users.
    reason: known ?? withoutValues(error.message),
  }
}

export function isRowLock({ statusCode }: SaveError): boolean {
  return statusCode === 'UNABLE_TO_LOCK_ROW'
}

/**
 * Returns whether the id never existed, or its record has left the recycle bin. With a field, a reference is wrong
 * instead.
 */
function isUnknownId({ statusCode, fields }: SaveError): boolean {
  const isOfRecord = fields.every((name) => name === 'Id')
  return isOfRecord && (statusCode === 'INVALID_CROSS_REFERENCE_KEY' || statusCode === 'MALFORMED_ID')
}

function withoutValues(message: string): string {
  return message
    .replace(/[^\s@]+@[^\s@]+/g, '…')
    .replace(/https?:\/\/\S+/g, '…')
    .replace(/\+?\d[\d\s().-]{5,}\d/g, '…')
    .slice(0, 300)
}

const noAccess = 'the integration user may not change this record'

const reasons: Readonly<Record<string, string>> = {
  INVALID_EMAIL_ADDRESS: 'Salesforce does not take it as an e-mail address',
  STRING_TOO_LONG: 'the value is longer than the field',
  INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST: 'the value is none of the picklist',
  DUPLICATES_DETECTED: 'a duplicate rule of the org refuses it',
  DUPLICATE_VALUE: 'another record has the same value in a unique field',
  REQUIRED_FIELD_MISSING: 'a required field would be blank',
  INVALID_TYPE_ON_FIELD_IN_RECORD: 'the value is not of the type of the field',
  NUMBER_OUTSIDE_VALID_RANGE: 'the number is too large for the field',
  INVALID_FIELD_FOR_INSERT_UPDATE: 'the integration user may not write the field',
  FIELD_FILTER_VALIDATION_EXCEPTION: 'a lookup filter of the org refuses it',
  JSON_PARSER_ERROR: 'the value is not of the type of the field',
  ENTITY_IS_LOCKED: 'the record is locked by an approval process',
}

const passing: ReadonlySet<string> = new Set([
  'SERVER_UNAVAILABLE',
  'QUERY_TIMEOUT',
  'UNKNOWN_EXCEPTION',
  'REQUEST_LIMIT_EXCEEDED',
  'TXN_SECURITY_METERING_ERROR',
])
