import { saveError, type SaveError } from '../errors.ts'
import { isId, toLongId } from '../ids.ts'
import type { SalesforceType } from '../schema.ts'
import type { FieldValue, SalesforceRecord, SalesforceStore } from '../store.ts'

type Values = Readonly<Record<string, FieldValue>>

/**
 * Returns the error of a value that another record has in a unique field. Text is compared without regard to case unless the
 * field says otherwise; blanks and records in the recycle bin do not count.
 *
 * The words are Salesforce's own and name the record with 15 characters (salesforce.stackexchange.com, questions/16003, and many
 * logs: "duplicate value found: Ext__c duplicates value on record with id: 0018000000Abcde").
 */
export function uniqueFault(
  store: SalesforceStore,
  type: SalesforceType,
  values: Values,
  exceptId?: string,
): SaveError | undefined {
  for (const field of store.schema[type].fields.values()) {
    const value = values[field.name]
    if (!field.unique || typeof value !== 'string') continue
    const other = recordsWith(store, type, field.name, value).find(({ id }) => id !== exceptId)
    if (other)
      return saveError(
        'DUPLICATE_VALUE',
        `duplicate value found: ${field.name} duplicates value on record with id: ${other.id.slice(0, 15)}`,
      )
  }
  return undefined
}

/** Returns the records outside the recycle bin that have this text in a field, without regard to case. */
export function recordsWith(
  store: SalesforceStore,
  type: SalesforceType,
  field: string,
  value: string,
): SalesforceRecord[] {
  const wanted = value.toLowerCase()
  const found: SalesforceRecord[] = []
  for (const record of store.list(type)) {
    const stored = record.fields[field]
    if (record.deletedAtMs === undefined && typeof stored === 'string' && stored.toLowerCase() === wanted)
      found.push(record)
  }
  return found
}

/**
 * Returns the error of an owner who cannot own the record: INACTIVE_OWNER_OR_USER ("operation performed with inactive user"; a
 * status code of the SOAP API Developer Guide, "Status Codes"). A queue may own leads.
 */
export function ownerFault(
  store: SalesforceStore,
  type: SalesforceType,
  values: Values,
): SaveError | undefined {
  const ownerId = values['OwnerId']
  if (typeof ownerId !== 'string') return undefined
  const isActive = store.users.get(ownerId)
  if (isActive === false)
    return saveError(
      'INACTIVE_OWNER_OR_USER',
      `operation performed with inactive user [${ownerId}] as owner of ${type.toLowerCase()}`,
    )
  const isQueue = type === 'Lead' && ownerId.startsWith('00G')
  if (isActive || isQueue) return undefined
  return saveError('INVALID_CROSS_REFERENCE_KEY', 'Owner ID: owner cannot be blank', ['OwnerId'])
}

/**
 * Returns the error of a reference to an account that is not there, or that is a person: a contact of a business cannot belong to
 * one (Object Reference, Contact, `AccountId`: "ID of the account that's the parent of this contact").
 */
export function accountFault(
  store: SalesforceStore,
  type: SalesforceType,
  values: Values,
): SaveError | undefined {
  const accountId = values['AccountId']
  if (type !== 'Contact' || typeof accountId !== 'string') return undefined
  const account = isId(accountId) ? store.get('Account', toLongId(accountId)) : undefined
  if (account?.deletedAtMs !== undefined)
    return saveError('ENTITY_IS_DELETED', 'entity is deleted', ['AccountId'])
  if (!account || account.fields['IsPersonAccount'] === true)
    return saveError(
      'INVALID_CROSS_REFERENCE_KEY',
      account ? 'The account is a person account.' : 'invalid cross reference id',
      ['AccountId'],
    )
  return undefined
}
