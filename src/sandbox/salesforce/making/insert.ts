import { setImmediate as nextTick, setTimeout as wait } from 'node:timers/promises'
import { settlePlaces } from '../places/countries.ts'
import { saveError, type SaveError } from '../errors.ts'
import { placePrefixes, type ObjectDefinition, type SalesforceType } from '../schema.ts'
import { LEAD_QUEUE_ID } from '../ids.ts'
import type { FieldValue, SalesforceRecord } from '../store.ts'
import { readValues, rolledBack, type UpdateOptions, type WriteDeps } from '../write.ts'
import { duplicateMessage, findDuplicates } from './duplicates.ts'
import { taskDefaults } from '../noting/fields.ts'
import { activityFault } from '../noting/rules.ts'
import { accountFault, ownerFault, uniqueFault } from './rules.ts'

export interface Insertion {
  readonly type: SalesforceType
  readonly values: Readonly<Record<string, unknown>>
}

export type InsertResult =
  | { readonly id: string }
  | { readonly errors: readonly SaveError[]; readonly matches?: readonly SalesforceRecord[] }

/**
 * Makes records one after another, as the rows of one transaction: a record sees those before it, so that the second of two
 * with one unique value is refused. With `allOrNone` a refused one takes the others with it.
 */
export async function insertRecords(
  deps: WriteDeps,
  insertions: readonly Insertion[],
  options: UpdateOptions,
): Promise<InsertResult[]> {
  const owner = Symbol('insert')
  const made: SalesforceRecord[] = []
  try {
    const results = insertions.map((insertion): InsertResult => {
      const checked = checkInsertion(deps, insertion, options, owner)
      if ('errors' in checked) return checked
      const record = deps.store.add(insertion.type, {
        fields: checked.values,
        byUserId: deps.store.apiUserId,
      })
      made.push(record)
      return { id: record.id }
    })
    const isRolledBack = options.allOrNone && results.some((result) => 'errors' in result)
    if (isRolledBack) for (const { type, id } of made) deps.store.purge(type, id)
    if (deps.faults.lockHoldMs > 0) await wait(deps.faults.lockHoldMs)
    else await nextTick()
    return isRolledBack ? results.map((result) => ('errors' in result ? result : rolledBack)) : results
  } finally {
    deps.locks.release(owner)
  }
}

function checkInsertion(
  deps: WriteDeps,
  { type, values: given }: Insertion,
  options: UpdateOptions,
  owner: symbol,
):
  | { values: Record<string, FieldValue> }
  | { errors: readonly SaveError[]; matches?: readonly SalesforceRecord[] } {
  const { store, faults, locks } = deps
  const definition = store.schema[type]
  const fail = (...errors: SaveError[]): { errors: SaveError[] } => ({ errors })
  if (store.access.cannotCreate.has(type))
    return fail(saveError('INSUFFICIENT_ACCESS_OR_READONLY', 'insufficient access rights on object id'))
  const { values, errors } = readValues(definition, given, faults.unknownField, false, 'createable')
  if (errors.length > 0) return { errors }
  const missing = missingFields(definition, values)
  if (missing.length > 0)
    return fail(
      saveError('REQUIRED_FIELD_MISSING', `Required fields are missing: [${missing.join(', ')}]`, missing),
    )
  const prefix = placePrefixes[type]
  const settled = definition.fields.has(`${prefix}CountryCode`.toLowerCase())
    ? settlePlaces(prefix, {}, values)
    : values
  if ('message' in settled)
    return fail(saveError('FIELD_INTEGRITY_EXCEPTION', String(settled.message), [String(settled.field)]))
  const fault =
    ownerFault(store, type, settled) ??
    accountFault(store, type, settled) ??
    activityFault(store, type, settled)
  if (fault) return fail(fault)

  const accountId = settled['AccountId']
  if (typeof accountId === 'string' && (faults.takeRowLock(accountId) || !locks.tryHold(owner, [accountId])))
    return fail(
      saveError(
        'UNABLE_TO_LOCK_ROW',
        `unable to obtain exclusive access to this record or 1 records: ${accountId}`,
      ),
    )
  for (const rule of faults.validationRules)
    if (rule.type === type && rule.refuses(settled))
      return fail(
        saveError('FIELD_CUSTOM_VALIDATION_EXCEPTION', rule.message, rule.field ? [rule.field] : []),
      )
  // Duplicate rules run before the database finds out that a value is not unique.
  const matches =
    faults.hasDuplicateRules && !options.allowDuplicates ? findDuplicates(store, type, settled) : []
  if (matches.length > 0) return { errors: [saveError('DUPLICATES_DETECTED', duplicateMessage)], matches }
  const double = uniqueFault(store, type, settled)
  if (double) return fail(double)
  const isAssigned = type === 'Lead' && faults.hasLeadAssignment && options.usesAssignment
  return {
    values: {
      OwnerId: store.apiUserId,
      ...(type === 'Lead' ? { Status: 'Open' } : {}),
      ...(type === 'Task' ? taskDefaults : {}),
      ...settled,
      ...(isAssigned ? { OwnerId: LEAD_QUEUE_ID } : {}),
    },
  }
}

/** The fields that every record of an object has: REQUIRED_FIELD_MISSING names all that a new one lacks at once. */
function missingFields({ fields }: ObjectDefinition, values: Readonly<Record<string, FieldValue>>): string[] {
  return [...fields.values()]
    .filter(
      ({ name, nillable, updateable, createable, type, defaultedOnCreate }) =>
        !nillable && (createable ?? updateable) && type !== 'boolean' && !defaultedOnCreate && !values[name],
    )
    .map(({ name }) => name)
}
