import { saveError, type SaveError } from '../errors.ts'
import { isId, toLongId } from '../ids.ts'
import type { SalesforceType } from '../schema.ts'
import type { SalesforceRecord } from '../store.ts'
import type { WriteDeps } from '../write.ts'
import { mayDeleteParent } from '../noting/rules.ts'
import { childrenOf } from './tied.ts'

export type DeleteResult = { readonly id: string } | { readonly errors: readonly SaveError[] }

/**
 * Moves records to the recycle bin. Only the owner, a user above the owner and a user with Modify All may: editing, also where
 * records are public for reading and writing, does not include deleting (Salesforce Help, "Sharing Settings": Full Access). An
 * account takes its contacts along, and one with cases stays: DELETE_FAILED.
 */
export function deleteRecords(
  { store, faults }: WriteDeps,
  ids: readonly string[],
  allOrNone: boolean,
): DeleteResult[] {
  const found = ids.map((id): { record: SalesforceRecord } | { errors: SaveError[] } => {
    const record = isId(id) ? recordOf(id) : undefined
    const fail = (code: string, message: string): { errors: SaveError[] } => ({
      errors: [saveError(code, message)],
    })
    if (!isId(id)) return fail('MALFORMED_ID', `malformed id ${id}`)
    if (!record || store.isPurged(record))
      return fail('INVALID_CROSS_REFERENCE_KEY', 'invalid cross reference id')
    if (record.deletedAtMs !== undefined) return fail('ENTITY_IS_DELETED', 'entity is deleted')
    const { access, apiUserId } = store
    const isOwner =
      record.fields['OwnerId'] === apiUserId ||
      access.modifyAll.has(record.type) ||
      mayDeleteParent(store, record)
    if (access.cannotDelete.has(record.type) || !isOwner || faults.readOnlyRecords.has(record.id))
      return fail('INSUFFICIENT_ACCESS_OR_READONLY', 'insufficient access rights on object id')
    if (record.type === 'Contact' && record.fields['IsPersonAccount'] === true)
      return fail('INSUFFICIENT_ACCESS_OR_READONLY', 'insufficient access rights on object id')
    if (faults.takeRowLock(record.id))
      return fail('UNABLE_TO_LOCK_ROW', `unable to obtain exclusive access to this record: ${record.id}`)
    if (record.type === 'Account' && childrenOf(store, 'Account', record.id, 'Cases').length > 0)
      return fail(
        'DELETE_FAILED',
        `Your attempt to delete ${String(record.fields['Name'])} could not be completed because it is associated with the following cases.`,
      )
    return { record }
  })
  const isRolledBack = allOrNone && found.some((each) => 'errors' in each)
  return found.map((each) => {
    if ('errors' in each) return each
    if (isRolledBack)
      return {
        errors: [
          saveError(
            'ALL_OR_NONE_OPERATION_ROLLED_BACK',
            'Record rolled back because not all records were valid and the request was using AllOrNone header',
          ),
        ],
      }
    const { type, id } = each.record
    // A record that stands twice in a request is gone when its second turn comes.
    if (each.record.deletedAtMs !== undefined)
      return { errors: [saveError('ENTITY_IS_DELETED', 'entity is deleted')] }
    if (type === 'Account')
      for (const contact of childrenOf(store, 'Account', id, 'Contacts')) store.delete('Contact', contact)
    store.delete(type, id)
    return { id }
  })

  function recordOf(id: string): SalesforceRecord | undefined {
    const long = toLongId(id)
    const type = (Object.keys(store.schema) as SalesforceType[]).find((name) =>
      long.startsWith(store.schema[name].keyPrefix),
    )
    return type && store.get(type, long)
  }
}
