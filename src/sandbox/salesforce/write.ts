import { setImmediate as nextTick, setTimeout as wait } from 'node:timers/promises'
import { mayEdit, maySee } from './access.ts'
import { accountFault, ownerFault, uniqueFault } from './making/rules.ts'
import { readDate } from './values/dates.ts'
import { readNumber } from './values/numbers.ts'
import { settlePlaces } from './places/countries.ts'
import { SalesforceError, saveError, type SaveError } from './errors.ts'
import type { SalesforceFaults } from './faults.ts'
import { isId, LEAD_QUEUE_ID, toLongId } from './ids.ts'
import type { RowLocks } from './locks.ts'
import { placePrefixes, type FieldDefinition, type ObjectDefinition, type SalesforceType } from './schema.ts'
import { readField, type FieldValue, type SalesforceRecord, type SalesforceStore } from './store.ts'

export interface WriteDeps {
  readonly store: SalesforceStore
  readonly faults: SalesforceFaults
  readonly locks: RowLocks
}

export interface RecordUpdate {
  readonly type: SalesforceType
  readonly id: string
  readonly values: Readonly<Record<string, unknown>>
}

export interface UpdateOptions {
  readonly allOrNone: boolean
  /** `Sforce-Duplicate-Rule-Header: allowSave=true`. */
  readonly allowDuplicates: boolean
  /** Active assignment rules are used unless `Sforce-Auto-Assign: FALSE`. */
  readonly usesAssignment: boolean
  /** Values come from CSV: all are text, and a value of the wrong form fails its row instead of the request. */
  readonly isCsv?: boolean
}

export type UpdateResult = { readonly id: string } | { readonly errors: readonly SaveError[] }

/** Updates records one after another, as the rows of one transaction. Returns results in their order. */
export async function updateRecords(
  deps: WriteDeps,
  updates: readonly RecordUpdate[],
  options: UpdateOptions,
): Promise<UpdateResult[]> {
  const owner = Symbol('write')
  const seen = new Set<string>()
  const planned: { record: SalesforceRecord; values: Record<string, FieldValue> }[] = []
  try {
    const results = updates.map((update): UpdateResult => {
      const outcome = checkUpdate(deps, update, options, owner, seen)
      if ('errors' in outcome) return outcome
      planned.push(outcome)
      return { id: outcome.record.id }
    })
    const isRolledBack = options.allOrNone && results.some((result) => 'errors' in result)
    if (!isRolledBack)
      for (const { record, values } of planned)
        deps.store.edit(record.type, record.id, values, deps.store.apiUserId)
    if (deps.faults.lockHoldMs > 0) await wait(deps.faults.lockHoldMs)
    else await nextTick()
    return isRolledBack ? results.map((result) => ('errors' in result ? result : rolledBack)) : results
  } finally {
    deps.locks.release(owner)
  }
}

export const rolledBack: { readonly errors: readonly SaveError[] } = {
  errors: [
    saveError(
      'ALL_OR_NONE_OPERATION_ROLLED_BACK',
      'Record rolled back because not all records were valid and the request was using AllOrNone header',
    ),
  ],
}

function checkUpdate(
  deps: WriteDeps,
  { type, id: givenId, values: given }: RecordUpdate,
  options: UpdateOptions,
  owner: symbol,
  seen: Set<string>,
): { record: SalesforceRecord; values: Record<string, FieldValue> } | { errors: readonly SaveError[] } {
  const { store, faults, locks } = deps
  const definition = store.schema[type]
  const fail = (...errors: SaveError[]): { errors: SaveError[] } => ({ errors })

  if (!isId(givenId) || !givenId.startsWith(definition.keyPrefix))
    return fail(saveError('MALFORMED_ID', `${type} ID: id value of incorrect type: ${givenId}`, ['Id']))
  const id = toLongId(givenId)
  const { values, errors } = readValues(definition, given, faults.unknownField, options.isCsv === true)
  const record = store.get(type, id)
  if (!record) return fail(saveError('INVALID_CROSS_REFERENCE_KEY', 'invalid cross reference id'))
  if (record.deletedAtMs !== undefined) return fail(saveError('ENTITY_IS_DELETED', 'entity is deleted'))
  if (seen.has(id))
    return fail(
      saveError(
        'DUPLICATE_VALUE',
        `duplicate value found: <unknown> duplicates value on record with id: ${id}`,
      ),
    )
  seen.add(id)
  if (!maySee(store.access, record))
    return fail(
      saveError(
        'INSUFFICIENT_ACCESS_ON_CROSS_REFERENCE_ENTITY',
        'insufficient access rights on cross-reference id',
      ),
    )
  const isPersonContact = type === 'Contact' && record.fields['IsPersonAccount'] === true
  if (isPersonContact || faults.readOnlyRecords.has(id) || !mayEdit(store.access, record))
    return fail(saveError('INSUFFICIENT_ACCESS_OR_READONLY', 'insufficient access rights on object id'))
  if (readField(record, 'IsConverted') === true)
    return fail(saveError('CANNOT_UPDATE_CONVERTED_LEAD', 'cannot reference converted lead'))
  if (errors.length > 0) return { errors }
  const prefix = placePrefixes[type]
  const settled = definition.fields.has(`${prefix}CountryCode`.toLowerCase())
    ? settlePlaces(prefix, record.fields, values)
    : values
  if ('message' in settled)
    return fail(saveError('FIELD_INTEGRITY_EXCEPTION', String(settled.message), [String(settled.field)]))
  for (const [name, value] of Object.entries(settled)) {
    const field = definition.fields.get(name.toLowerCase())
    if (
      field?.type === 'picklist' &&
      !field.places &&
      typeof value === 'string' &&
      !field.picklist.includes(value)
    )
      store.inactiveValues.add(`${type}.${name}: ${value}`)
  }

  const accountId = record.fields.AccountId
  const keys = typeof accountId === 'string' ? [id, accountId] : [id]
  if (faults.takeRowLock(id) || !locks.tryHold(owner, keys))
    return fail(
      saveError(
        'UNABLE_TO_LOCK_ROW',
        `unable to obtain exclusive access to this record or 1 records: ${keys.at(-1)}`,
      ),
    )

  const refused =
    ownerFault(store, type, settled) ??
    accountFault(store, type, settled) ??
    refuseByRules(deps, record, settled, options) ??
    uniqueFault(store, type, settled, id)
  if (refused) return fail(refused)
  const isReassigned = type === 'Lead' && faults.hasLeadAssignment && options.usesAssignment
  return { record, values: isReassigned ? { OwnerId: LEAD_QUEUE_ID, ...settled } : settled }
}

function refuseByRules(
  { store, faults }: WriteDeps,
  record: SalesforceRecord,
  values: Readonly<Record<string, FieldValue>>,
  options: UpdateOptions,
): SaveError | undefined {
  const after = { ...record.fields, ...values }
  for (const rule of faults.validationRules)
    if (rule.type === record.type && rule.refuses(after))
      return saveError('FIELD_CUSTOM_VALIDATION_EXCEPTION', rule.message, rule.field ? [rule.field] : [])
  const email = values.Email
  const isDuplicate =
    faults.hasDuplicateRules &&
    !options.allowDuplicates &&
    typeof email === 'string' &&
    email !== record.fields.Email &&
    store.emailCount(record.type, email, record.id) > 0
  return isDuplicate ? saveError('DUPLICATES_DETECTED', 'Use one of these records?') : undefined
}

export function readValues(
  definition: ObjectDefinition,
  given: Readonly<Record<string, unknown>>,
  unknownField: 'request' | 'record',
  isCsv: boolean,
  right: 'updateable' | 'createable' = 'updateable',
): { values: Record<string, FieldValue>; errors: SaveError[] } {
  const values: Record<string, FieldValue> = {}
  const errors: SaveError[] = []
  for (const [name, value] of Object.entries(given)) {
    const field = definition.fields.get(name.toLowerCase())
    if (!field) {
      const message = `No such column '${name}' on sobject of type ${definition.name}`
      if (unknownField === 'request' && !isCsv) throw new SalesforceError(400, 'INVALID_FIELD', message)
      errors.push(saveError('INVALID_FIELD', message))
      continue
    }
    if (!(field[right] ?? field.updateable)) {
      errors.push(
        saveError(
          'INVALID_FIELD_FOR_INSERT_UPDATE',
          `Unable to create/update fields: ${field.name}. Please check the security settings of this field and verify that it is read/write for your profile or permission set.`,
          [field.name],
        ),
      )
      continue
    }
    const read = readValue(field, value, isCsv)
    if (typeof read === 'object' && read !== null) errors.push(read)
    else values[field.name] = read
  }
  return { values, errors }
}

/** Returns the stored form of one value, or the error that refuses it. Text is trimmed, and empty text is null. */
function readValue(field: FieldDefinition, value: unknown, isCsv: boolean): FieldValue | SaveError {
  if (value === null || value === '') {
    if (field.nillable) return null
    return saveError('REQUIRED_FIELD_MISSING', `Required fields are missing: [${field.name}]`, [field.name])
  }
  switch (field.type) {
    case 'int':
    case 'double':
    case 'currency': {
      const number =
        typeof value === 'number' ? value : Number(typeof value === 'string' ? value : Number.NaN)
      if (Number.isFinite(number) && (field.type !== 'int' || Number.isInteger(number)))
        return readNumber(field, number)
      return wrongForm(field, value, isCsv)
    }
    case 'boolean':
      if (typeof value === 'boolean') return value
      if (value === 'true' || value === 'false') return value === 'true'
      return wrongForm(field, value, isCsv)
    case 'date':
    case 'datetime':
      return readDate(field.type, value) ?? wrongForm(field, value, isCsv)
    case 'reference':
      if (typeof value === 'string' && isId(value)) return toLongId(value)
      return saveError('MALFORMED_ID', `${field.label}: id value of incorrect type: ${String(value)}`, [
        field.name,
      ])
    default:
      if (typeof value !== 'string') return wrongForm(field, value, isCsv)
      return readText(field, value.trim())
  }
}

function readText(field: FieldDefinition, text: string): FieldValue | SaveError {
  if (text === '') return readValue(field, null, false)
  if (text.length > field.length)
    return saveError(
      'STRING_TOO_LONG',
      `${field.label}: data value too large: ${text} (max length=${field.length})`,
      [field.name],
    )
  if (
    field.type === 'email' &&
    !/^[^\s@,;:<>()[\]"]+@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?\.[A-Za-z0-9-]{2,}$/.test(text)
  )
    return saveError('INVALID_EMAIL_ADDRESS', `${field.label}: invalid email address: ${text}`, [field.name])
  if (field.type === 'picklist' && field.isRestricted && !field.places && !field.picklist.includes(text))
    return saveError(
      'INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST',
      `${field.label}: bad value for restricted picklist field: ${text}`,
      [field.name],
    )
  return text
}

function wrongForm(field: FieldDefinition, value: unknown, isCsv: boolean): SaveError {
  if (isCsv)
    return saveError(
      'INVALID_TYPE_ON_FIELD_IN_RECORD',
      `${field.label}: value not of required type: ${String(value)}`,
      [field.name],
    )
  const token =
    typeof value === 'string'
      ? 'VALUE_STRING'
      : typeof value === 'number'
        ? 'VALUE_NUMBER_INT'
        : 'START_OBJECT'
  throw new SalesforceError(
    400,
    'JSON_PARSER_ERROR',
    `Cannot deserialize instance of ${JSON_TYPES[field.type] ?? 'string'} from ${token} value ${String(value)} or request may be missing a required field at [line:1, column:1]`,
  )
}

const JSON_TYPES: Partial<Record<FieldDefinition['type'], string>> = {
  int: 'int',
  double: 'double',
  currency: 'currency',
  boolean: 'boolean',
  date: 'date',
  datetime: 'datetime',
}
