import { saveError, SalesforceError, type SaveError } from '../errors.ts'
import type { FieldDefinition, ObjectDefinition, SalesforceType } from '../schema.ts'
import type { SalesforceRecord } from '../store.ts'
import { updateRecords, type UpdateOptions, type WriteDeps } from '../write.ts'
import { insertRecords } from './insert.ts'
import { recordsWith } from './rules.ts'

export interface Upsertion {
  readonly key: unknown
  readonly values: Readonly<Record<string, unknown>>
}

export type UpsertResult =
  | { readonly id: string; readonly created: boolean }
  | {
      readonly errors: readonly SaveError[]
      readonly matches?: readonly SalesforceRecord[]
      /** Records that have the same value in a field that is no unique one: a single record answers 300 with their addresses. */
      readonly choices?: readonly SalesforceRecord[]
    }

/** Returns the field by which an upsert finds records. Only external ids are taken, and ids are not. */
export function externalIdOf({ fields }: ObjectDefinition, name: string): FieldDefinition {
  const field = fields.get(name.toLowerCase())
  if (field?.externalId) return field
  throw new SalesforceError(
    404,
    'NOT_FOUND',
    `Provided external ID field does not exist or is not accessible: ${name}`,
  )
}

/**
 * Updates the record that has a key, or makes one, each in the order of the request ("Upsert Records Using sObject Collections" of
 * the REST API Developer Guide: up to 200, `created` in each result, only external ids). A key that the request names twice is
 * refused each time ("Duplicate external id specified"); one that several records have is DUPLICATE_EXTERNAL_ID.
 */
export async function upsertRecords(
  deps: WriteDeps,
  type: SalesforceType,
  field: FieldDefinition,
  upsertions: readonly Upsertion[],
  options: UpdateOptions,
): Promise<UpsertResult[]> {
  const keys = upsertions.map(({ key }) => (typeof key === 'string' ? key.trim().toLowerCase() : ''))
  const results: UpsertResult[] = []
  for (const [index, { key, values }] of upsertions.entries()) {
    const folded = keys[index] as string
    if (folded === '') {
      results.push({ errors: [saveError('MISSING_ARGUMENT', `${field.name} not specified`)] })
    } else if (keys.filter((other) => other === folded).length > 1) {
      const message = `Duplicate external id specified: ${String(key)}`
      results.push({ errors: [saveError('DUPLICATE_VALUE', message, [field.name])] })
    } else results.push(await upsertOne(deps, type, field, { key, values }, options))
  }
  return results
}

async function upsertOne(
  deps: WriteDeps,
  type: SalesforceType,
  field: FieldDefinition,
  { key, values }: Upsertion,
  options: UpdateOptions,
): Promise<UpsertResult> {
  const found = recordsWith(deps.store, type, field.name, String(key))
  const [record, ...more] = found
  if (more.length > 0) {
    const ids = found.map(({ id }) => id.slice(0, 15)).join(', ')
    const message = `${field.name}: more than one record found for external id field: [${ids}]`
    return { errors: [saveError('DUPLICATE_EXTERNAL_ID', message)], choices: found }
  }
  if (record) {
    const [updated] = await updateRecords(deps, [{ type, id: record.id, values }], options)
    return updated && 'errors' in updated ? updated : { id: record.id, created: false }
  }
  const [inserted] = await insertRecords(deps, [{ type, values: { ...values, [field.name]: key } }], options)
  if (!inserted) throw new Error('an insertion had no result')
  return 'errors' in inserted ? inserted : { id: inserted.id, created: true }
}
