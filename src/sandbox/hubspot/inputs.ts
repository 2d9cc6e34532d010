import { z } from 'zod'
import { HubspotError, invalidValues, validationError, type InvalidValue } from './errors.ts'
import type { HubspotFaults } from './faults.ts'
import { OBJECT_TYPE_IDS, type HubspotType } from './properties.ts'
import { refuseRequired } from './required.ts'
import type { HubspotRecord, HubspotStore } from './store.ts'
import { validateProperties } from './validate.ts'

export interface InputDeps {
  readonly store: HubspotStore
  readonly faults: HubspotFaults
  readonly portalId: number
}

// Numbers and booleans are read as text. Lists and objects are not valid values.
const valueSchema = z.union([
  z.string(),
  z.number().transform(String),
  z.boolean().transform(String),
  z.null(),
])
export const valuesSchema = z.record(z.string(), valueSchema)
export const idSchema = z.union([z.string(), z.number().int().transform(String)])

/** Checks the values for one record, or for a new one where there is none, as every write of the CRM does. */
export function refuseInput(
  { store, faults, portalId }: InputDeps,
  type: HubspotType,
  record: HubspotRecord | undefined,
  given: Readonly<Record<string, string | null>>,
  isEnforcing: boolean,
): { error: HubspotError | undefined; values: ReadonlyMap<string, string> } {
  const { values, invalid } = validateProperties(given, store.registry.properties[type], faults)
  if (invalid.length > 0) return { error: invalidValues(invalid as InvalidValue[], portalId), values }
  const tooLong = faults.validations.filter(
    ({ type: of, property, ruleType, ruleArguments }) =>
      of === type &&
      ruleType === 'MAX_LENGTH' &&
      (values.get(property)?.length ?? 0) > Number(ruleArguments[0]),
  )
  if (tooLong.length > 0) {
    const broken = tooLong.map(({ property }) => ({ code: 'MAX_LENGTH', property, message: 'Too long' }))
    return { error: invalidValues(broken, portalId), values }
  }
  const ownerId = values.get('hubspot_owner_id')
  if (ownerId && (store.owners.get(ownerId)?.archived ?? true)) {
    const message = `The owner ${ownerId} does not exist, or cannot own records`
    return {
      error: invalidValues([{ code: 'INVALID_OWNER_ID', property: 'hubspot_owner_id', message }], portalId),
      values,
    }
  }
  const after = { ...record?.properties, ...Object.fromEntries(values) }
  const required = isEnforcing ? refuseRequired(faults.required, type, after) : undefined
  if (required) return { error: required, values }
  const email = type === 'contacts' ? values.get('email') : undefined
  const owner = email ? store.emailOwner(email) : undefined
  if (owner && owner.id !== record?.id) return { error: contactExists(owner.id), values }
  return { error: refuseTaken({ store, portalId }, type, record, values), values }
}

/** A second contact with an address: in place of its id nothing, where the first one is in the same batch. */
export function contactExists(id: string | undefined): HubspotError {
  const named = id === undefined ? '' : ` Existing ID: ${id}`
  return new HubspotError(409, 'CONFLICT', `Contact already exists.${named}`)
}

/**
 * A value that another record has in a unique property. The message is the one that integrations quote: "Cannot set
 * PropertyValueCoordinates{…} on 48328838322. 51090765207 already has that value.", under VALIDATION_ERROR and 400.
 */
function refuseTaken(
  { store, portalId }: Omit<InputDeps, 'faults'>,
  type: HubspotType,
  record: HubspotRecord | undefined,
  values: ReadonlyMap<string, string>,
): HubspotError | undefined {
  for (const [name, value] of values) {
    if (value === '' || !store.registry.properties[type].get(name)?.hasUniqueValue) continue
    const owner = store.uniqueOwner(type, name, value)
    if (!owner || owner.id === record?.id) continue
    const object = `ObjectTypeId{legacyObjectType=${type === 'contacts' ? 'CONTACT' : 'COMPANY'}}`
    return validationError(
      `Cannot set PropertyValueCoordinates{portalId=${portalId}, objectTypeId=${object}, propertyName=${name}, value=${value}} on ${record?.id ?? '-1'}. ${owner.id} already has that value.`,
    )
  }
  return undefined
}

/** Administrators' rules bind version 2026-09 and no earlier one. */
export function enforces(path: string): boolean {
  return path.startsWith('/crm/objects/2026-09/')
}

export function isRequiredRule({ extra }: HubspotError): boolean {
  return JSON.stringify(extra['errors'] ?? '').includes('MISSING_CONDITIONAL_REQUIRED_PROPERTY')
}

export function uniqueIds(ids: readonly string[]): readonly string[] {
  const duplicates = ids.filter((id, at) => ids.indexOf(id) !== at)
  if (duplicates.length > 0)
    throw validationError(`Duplicate IDs found in batch input: [${duplicates.join(', ')}]`)
  return ids
}

/** Returns a record by its id, or by a value of a unique property. Archived ones are found by their id alone. */
export function find(
  store: HubspotStore,
  type: HubspotType,
  id: string,
  idProperty?: string,
): HubspotRecord | undefined {
  if (!idProperty || idProperty === 'hs_object_id') return store.get(type, id)
  if (idProperty === 'email' && type === 'contacts') return store.emailOwner(id.toLowerCase())
  if (!store.registry.properties[type].get(idProperty)?.hasUniqueValue)
    throw validationError(`Property '${idProperty}' is not a unique property`)
  return store.uniqueOwner(type, idProperty, id)
}

/** The id is none either: "Unable to perform update/upsert by non-unique 0-2 property hs_object_id in portal ID …". */
export function refuseIdProperty(
  { store, portalId }: Pick<InputDeps, 'store' | 'portalId'>,
  type: HubspotType,
  idProperty: string,
): void {
  if (store.registry.properties[type].get(idProperty)?.hasUniqueValue) return
  throw validationError(
    `Unable to perform update/upsert by non-unique ${OBJECT_TYPE_IDS[type]} property ${idProperty} in portal ID ${portalId}`,
  )
}
