import type { z } from 'zod'
import { validationError } from './errors.ts'
import { DEFAULT_PROPERTIES, MODIFIED_PROPERTY, type HubspotType } from './properties.ts'
import { readProperty, type HubspotRecord, type HubspotStore } from './store.ts'

/** Accepts `contacts`, `contact` and `0-1` alike, as the paths of the API do. */
export function objectType(given: string): HubspotType {
  if (['contacts', 'contact', '0-1'].includes(given)) return 'contacts'
  if (['companies', 'company', '0-2'].includes(given)) return 'companies'
  throw validationError(`Unable to infer object type from: ${given}`)
}

export function scope(
  type: HubspotType,
  action: 'read' | 'write',
  kind: 'objects' | 'schemas' = 'objects',
): string {
  return `crm.${kind}.${type}.${action}`
}

export interface BatchError {
  readonly status: 'error'
  readonly category: string
  readonly subCategory?: string
  readonly message: string
  readonly errors?: readonly object[]
  readonly context: Readonly<Record<string, readonly string[]>>
}

export function batchAnswer(
  results: readonly unknown[],
  errors: readonly BatchError[],
  nowMs: number,
): object {
  const at = new Date(nowMs).toISOString()
  return {
    status: 'COMPLETE',
    results,
    ...(errors.length > 0
      ? { numErrors: errors.length, errors: errors.map((error) => ({ errors: [], links: {}, ...error })) }
      : {}),
    startedAt: at,
    completedAt: at,
  }
}

/** Parses a body as HubSpot's JSON reader does, and throws its 400 for an invalid body. */
export function parseBody<T extends z.ZodType>(schema: T, text: string): z.infer<T> {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw validationError('Invalid input JSON on line 1, column 1: unexpected content')
  }
  const parsed = schema.safeParse(json)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw validationError(`Invalid input JSON on line 1, column 1: ${issue?.path.join('.')}: ${issue?.message}`)
}

/**
 * Returns a record for reading: unknown property names are silently left out, and known ones without a value are null.
 */
export function simpleObject(record: HubspotRecord, names: readonly string[], store: HubspotStore): object {
  const known = store.registry.properties[record.type]
  const asked = names.length === 0 ? DEFAULT_PROPERTIES[record.type] : names.filter((name) => known.has(name))
  const all = new Set([...asked, 'createdate', 'hs_object_id', MODIFIED_PROPERTY[record.type]])
  const properties: Record<string, string | null> = {}
  for (const name of all) properties[name] = readProperty(record, name)
  return {
    id: record.id,
    properties,
    createdAt: new Date(record.createdAtMs).toISOString(),
    updatedAt: new Date(record.modifiedAtMs).toISOString(),
    archived: record.archivedAtMs !== undefined,
    ...(record.archivedAtMs === undefined ? {} : { archivedAt: new Date(record.archivedAtMs).toISOString() }),
  }
}

/** The order of a batch's results differs from the order of its inputs. */
export function inIdOrder<T>(byId: ReadonlyMap<string, T>): T[] {
  return [...byId].sort(([a], [b]) => Number(a) - Number(b)).map(([, item]) => item)
}

export function missingObjects(type: HubspotType, ids: readonly string[]): BatchError {
  const name = type === 'contacts' ? 'CONTACT' : 'COMPANY'
  return {
    status: 'error',
    category: 'OBJECT_NOT_FOUND',
    message: `Could not get some ${name} objects, they may be deleted or not exist. Check that ids are valid.`,
    context: { ids },
  }
}
