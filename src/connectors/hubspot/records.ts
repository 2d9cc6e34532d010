import { RetriableError } from '../../domain/errors.ts'
import { fromCrm } from '../../domain/mapping/convert.ts'
import {
  identityOf,
  propertiesOf,
  type CrmMapping,
  type DescribedField,
  type EntityMapping,
  type OwnFields,
} from '../../domain/mapping/mapping.ts'
import { isOwnWrite } from '../../domain/mapping/stamp.ts'
import type { FieldValue, SourceRecord } from '../../domain/record.ts'
import { valuesFault } from '../../domain/values/gate.ts'
import type { CurrentRecord, OwnValues } from '../connector.ts'
import type { HubspotApi } from './api/client.ts'
import { batchSchema, modifiedProperty, paths, type HubspotEntity, type HubspotObject } from './api/wire.ts'

const readLimit = 100
const mergedProperty = 'hs_merged_object_ids'

/**
 * Returns the properties to read: those that identify a record, those that may be written, and those that show our own
 * writes.
 */
export function readProperties(
  mapping: CrmMapping,
  entity: HubspotEntity,
  entityMap: EntityMapping,
): string[] {
  return [
    ...new Set([
      ...propertiesOf(entityMap),
      ...Object.values(mapping.own),
      modifiedProperty[entity],
      mergedProperty,
    ]),
  ]
}

/**
 * Reads records, 100 a call, and returns them by the ids that were asked for. A record that was merged away has the
 * record it was merged into; one that is deleted or archived is left out.
 */
export async function batchRead(
  api: HubspotApi,
  entity: string,
  ids: readonly string[],
  properties: readonly string[],
  signal?: AbortSignal,
): Promise<Map<string, HubspotObject>> {
  const found = new Map<string, HubspotObject>()
  const unique = [...new Set(ids)]
  // Only a number is an id; HubSpot may drop another text silently or refuse the batch for it.
  const askable = unique.filter((id) => /^\d{1,19}$/.test(id))
  for (let at = 0; at < askable.length; at += readLimit) {
    const asked = askable.slice(at, at + readLimit)
    const { results, missing } = await readBatch(api, entity, asked, properties, signal)
    const byId = new Map(results.flatMap((result) => mergedIdsOf(result).map((id) => [id, result] as const)))
    for (const result of results) byId.set(result.id, result)
    // The result of a record that was merged twice may name only the last two ids: alone, each id finds its record.
    if (results.some((result) => mergedIdsOf(result).length > 0)) {
      for (const id of asked.filter((asked) => !byId.has(asked) && !missing.has(asked))) {
        const [result] = (await readBatch(api, entity, [id], properties, signal)).results
        if (result) byId.set(id, result)
      }
    }
    for (const id of asked) {
      const result = byId.get(id)
      if (result) found.set(id, result)
    }
  }
  return found
}

async function readBatch(
  api: HubspotApi,
  entity: string,
  ids: readonly string[],
  properties: readonly string[],
  signal: AbortSignal | undefined,
): Promise<{ results: HubspotObject[]; missing: ReadonlySet<string> }> {
  const { results, errors = [] } = await api.need(batchSchema, {
    method: 'POST',
    path: paths.batchRead(entity),
    body: { inputs: ids.map((id) => ({ id })), properties, propertiesWithHistory: [] },
    signal,
  })
  const failed = errors.find(({ category }) => category !== 'OBJECT_NOT_FOUND')
  // A record that could not be read is not a deleted one.
  if (failed)
    throw new RetriableError('hubspot_read_failed', `HubSpot could not read all records: ${failed.category}`)
  return { results, missing: new Set(errors.flatMap(({ context }) => context?.['ids'] ?? [])) }
}

/** Returns the ids of the records that were merged into this one, each of which HubSpot gave a new id. */
function mergedIdsOf({ properties }: HubspotObject): string[] {
  return properties[mergedProperty]?.split(';').filter(Boolean) ?? []
}

export function toCurrent(
  id: string,
  object: HubspotObject | undefined,
  entityMap: EntityMapping,
  fields: ReadonlyMap<string, DescribedField>,
  own: OwnFields,
): CurrentRecord {
  if (!object) return { state: 'gone' }
  if (object.id !== id) return { state: 'merged', into: object.id }
  const raw: Record<string, FieldValue> = {}
  for (const [canonical, { property }] of Object.entries(entityMap.fields)) {
    const text = object.properties[property]
    if (text) raw[canonical] = text
  }
  const values = valuesOf(object, entityMap, fields)
  const identity = identityOf(entityMap, object.properties)
  const mergedIds = mergedIdsOf(object)
  return {
    state: 'present',
    values,
    identity,
    raw,
    own: ownValues(object, own),
    ...(mergedIds.length > 0 ? { mergedIds } : {}),
  }
}

function ownValues({ properties }: HubspotObject, own: OwnFields): OwnValues {
  return Object.fromEntries(
    Object.entries(own).flatMap(([name, property]) =>
      properties[property] ? [[name, properties[property]]] : [],
    ),
  )
}

/** Returns a record's values by canonical field, without blanks. */
function valuesOf(
  object: HubspotObject,
  entityMap: EntityMapping,
  fields: ReadonlyMap<string, DescribedField>,
): Record<string, FieldValue> {
  const values: Record<string, FieldValue> = {}
  for (const [canonical, mapped] of Object.entries(entityMap.fields)) {
    const { property } = mapped
    const value = fromCrm(object.properties[property], fields.get(property) ?? { type: 'text' }, mapped)
    if (value !== undefined) values[canonical] = value
  }
  return values
}

export function toSourceRecord(
  object: HubspotObject,
  entityMap: EntityMapping,
  fields: ReadonlyMap<string, DescribedField>,
): SourceRecord {
  const mergedIds = mergedIdsOf(object)
  // Found here, before anything is bought for a record that could not be written.
  const unreadable = valuesFault(object.properties)
  return {
    id: object.id,
    object: entityMap.object,
    identity: identityOf(entityMap, object.properties),
    ...(unreadable ? { unreadable } : { values: valuesOf(object, entityMap, fields) }),
    ...(mergedIds.length > 0 ? { mergedIds } : {}),
  }
}

export function modifiedAtMs(object: HubspotObject, entity: HubspotEntity): number | undefined {
  return timeOf(object.properties[modifiedProperty[entity]])
}

export function isOurs(object: HubspotObject, entity: HubspotEntity, mapping: CrmMapping): boolean {
  const { own } = mapping
  return isOwnWrite({
    properties: writableProperties(mapping.entities[entity] as EntityMapping),
    values: object.properties,
    source: object.properties[own.source],
    enrichedAtMs: timeOf(object.properties[own.enrichedAt]),
    modifiedAtMs: modifiedAtMs(object, entity),
  })
}

export function writableProperties(entityMap: EntityMapping): string[] {
  return Object.values(entityMap.fields).map(({ property }) => property)
}

/** HubSpot writes times in ISO 8601, and sometimes in milliseconds. */
function timeOf(text: string | null | undefined): number | undefined {
  if (!text) return undefined
  const atMs = /^\d{10,}$/.test(text) ? Number(text) : Date.parse(text)
  return Number.isNaN(atMs) ? undefined : atMs
}
