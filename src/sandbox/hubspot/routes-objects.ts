import { Hono } from 'hono'
import { z } from 'zod'
import {
  batchAnswer,
  inIdOrder,
  missingObjects,
  objectType,
  parseBody,
  scope,
  simpleObject,
  type BatchError,
} from './answers.ts'
import type { HubspotAuth } from './auth.ts'
import { HubspotError, invalidValues, notFound, validationError, type InvalidValue } from './errors.ts'
import type { HubspotFaults } from './faults.ts'
import type { HubspotEnv } from './gate.ts'
import type { HubspotType } from './properties.ts'
import { refuseRequired } from './required.ts'
import { runSearch } from './search.ts'
import type { HubspotRecord, HubspotStore } from './store.ts'
import { validateProperties } from './validate.ts'

export interface ObjectRoutesDeps {
  readonly store: HubspotStore
  readonly auth: HubspotAuth
  readonly faults: HubspotFaults
  readonly portalId: number
  readonly now: () => number
}

/** The routes below one objects prefix. `/crm/v3/objects` and `/crm/objects/2026-09` behave alike. */
export function objectRoutes(deps: ObjectRoutesDeps): Hono<HubspotEnv> {
  const { store, auth, faults, portalId, now } = deps
  const app = new Hono<HubspotEnv>()

  app.post('/:type/search', async (c) => {
    const type = objectType(c.req.param('type'))
    auth.require(scope(type, 'read'))
    const found = runSearch(store, type, await c.req.text(), now())
    return c.json({
      total: found.total,
      results: found.records.map((record) => simpleObject(record, found.properties, store)),
      ...(found.nextAfter === undefined ? {} : { paging: { next: { after: found.nextAfter } } }),
    })
  })

  app.post('/:type/batch/read', async (c) => {
    const type = objectType(c.req.param('type'))
    auth.require(scope(type, 'read'))
    const body = parseBody(batchReadSchema, await c.req.text())
    const ids = uniqueIds(body.inputs.map((input) => input.id))
    const byId = new Map<string, HubspotRecord>()
    const missing: string[] = []
    const wantArchived = c.req.query('archived') === 'true'
    for (const id of ids) {
      const record = find(store, type, id, body.idProperty)
      if (record && (record.archivedAtMs !== undefined) === wantArchived) byId.set(record.id, record)
      else missing.push(id)
    }
    const results = inIdOrder(byId).map((record) => simpleObject(record, body.properties, store))
    const errors = missing.length === 0 ? [] : [missingObjects(type, missing)]
    return c.json(batchAnswer(results, errors, now()), errors.length > 0 ? 207 : 200)
  })

  app.post('/:type/batch/update', async (c) => {
    const type = objectType(c.req.param('type'))
    auth.require(scope(type, 'write'))
    const body = parseBody(batchUpdateSchema, await c.req.text())
    uniqueIds(body.inputs.map((input) => input.id))
    const written = new Map<string, { record: HubspotRecord; names: string[]; traceId: string | undefined }>()
    const errors: BatchError[] = []
    const accepted: {
      record: HubspotRecord
      values: ReadonlyMap<string, string>
      traceId: string | undefined
    }[] = []

    for (const input of body.inputs) {
      if (input.idProperty) refuseIdProperty(store, type, input.idProperty)
      // A text in place of an id, such as an address, is silently dropped.
      if (!input.idProperty && !/^\d+$/.test(input.id)) continue
      const traceId = input.objectWriteTraceId
      const trace = traceId === undefined ? {} : { objectWriteTraceId: [traceId] }
      const record = find(store, type, input.id, input.idProperty)
      if (!record || record.archivedAtMs !== undefined) {
        errors.push({ ...missingObjects(type, [input.id]), context: { ids: [input.id], ...trace } })
        continue
      }
      const failing = faults.failingRecords.get(record.id)
      if (failing) {
        errors.push({ status: 'error', ...failing, context: { ids: [record.id], ...trace } })
        continue
      }
      const refusal = refuseInput(deps, type, record, input.properties, enforces(c.req.path))
      if (!refusal.error) accepted.push({ record, values: refusal.values, traceId })
      else if (faults.batchErrors === 'whole') throw refusal.error
      else
        errors.push({
          status: 'error',
          category: refusal.error.category,
          message: refusal.error.message,
          ...(isRequiredRule(refusal.error) ? { errors: refusal.error.extra['errors'] as object[] } : {}),
          context: trace,
        })
    }
    for (const { record, values, traceId } of accepted) {
      if (values.size > 0) store.edit(type, record.id, Object.fromEntries(values))
      written.set(record.id, { record, names: [...values.keys()], traceId })
    }
    const results = inIdOrder(written).map(({ record, names, traceId }) => ({
      ...simpleObject(record, names, store),
      ...(traceId === undefined ? {} : { objectWriteTraceId: traceId }),
    }))
    return c.json(batchAnswer(results, errors, now()), errors.length > 0 ? 207 : 200)
  })

  app.get('/:type', (c) => {
    const type = objectType(c.req.param('type'))
    auth.require(scope(type, 'read'))
    const limit = Number(c.req.query('limit') ?? '10')
    if (!Number.isInteger(limit) || limit < 1 || limit > 100)
      throw validationError('The limit parameter must be between 1 and 100, inclusive.')
    const from = c.req.query('after') === undefined ? 0 : Number(c.req.query('after'))
    if (Number.isNaN(from)) throw validationError('Invalid paging parameter')
    const wantArchived = c.req.query('archived') === 'true'
    const page: HubspotRecord[] = []
    for (const record of store.list(type)) {
      if (Number(record.id) < from || (record.archivedAtMs !== undefined) !== wantArchived) continue
      page.push(record)
      if (page.length > limit) break
    }
    const next = page[limit]
    const link = `${new URL(c.req.url).origin}${c.req.path}?limit=${limit}&after=${next?.id}`
    return c.json({
      results: page
        .slice(0, limit)
        .map((record) => simpleObject(record, propertiesOf(c.req.queries('properties')), store)),
      ...(next ? { paging: { next: { after: next.id, link } } } : {}),
    })
  })

  app.get('/:type/:id', (c) => {
    const type = objectType(c.req.param('type'))
    auth.require(scope(type, 'read'))
    const id = decodeURIComponent(c.req.param('id'))
    const record = find(store, type, id, c.req.query('idProperty'))
    const wantArchived = c.req.query('archived') === 'true'
    if (!record || (record.archivedAtMs !== undefined) !== wantArchived)
      throw notFound('Object not found.  objectId are usually numeric.', { id: [id] })
    return c.json(simpleObject(record, propertiesOf(c.req.queries('properties')), store))
  })

  app.patch('/:type/:id', async (c) => {
    const type = objectType(c.req.param('type'))
    auth.require(scope(type, 'write'))
    const id = decodeURIComponent(c.req.param('id'))
    const { properties } = parseBody(z.object({ properties: valuesSchema }), await c.req.text())
    const record = find(store, type, id, c.req.query('idProperty'))
    if (!record || record.archivedAtMs !== undefined) throw notFound('resource not found', { id: [id] })
    const { error, values } = refuseInput(deps, type, record, properties, enforces(c.req.path))
    if (error) throw error
    if (values.size > 0) store.edit(type, record.id, Object.fromEntries(values))
    return c.json(simpleObject(record, [...values.keys()], store))
  })

  const refuseInput = (
    { faults: switches }: ObjectRoutesDeps,
    type: HubspotType,
    record: HubspotRecord,
    given: Readonly<Record<string, string | null>>,
    isEnforcing: boolean,
  ): { error: HubspotError | undefined; values: ReadonlyMap<string, string> } => {
    const { values, invalid } = validateProperties(given, store.registry.properties[type], switches)
    if (invalid.length > 0) return { error: invalidValues(invalid as InvalidValue[], portalId), values }
    const tooLong = switches.validations.filter(
      ({ type: of, property, ruleType, ruleArguments }) =>
        of === type &&
        ruleType === 'MAX_LENGTH' &&
        (values.get(property)?.length ?? 0) > Number(ruleArguments[0]),
    )
    if (tooLong.length > 0) {
      const broken = tooLong.map(({ property }) => ({ code: 'MAX_LENGTH', property, message: 'Too long' }))
      return { error: invalidValues(broken, portalId), values }
    }
    const after = { ...record.properties, ...Object.fromEntries(values) }
    const required = isEnforcing ? refuseRequired(switches.required, type, after) : undefined
    if (required) return { error: required, values }
    const email = type === 'contacts' ? values.get('email') : undefined
    const owner = email ? store.emailOwner(email) : undefined
    if (owner && owner.id !== record.id)
      return {
        error: new HubspotError(409, 'CONFLICT', `Contact already exists. Existing ID: ${owner.id}`),
        values,
      }
    return { error: undefined, values }
  }

  return app
}

/** Administrators' rules bind version 2026-09 and no earlier one. */
function enforces(path: string): boolean {
  return path.startsWith('/crm/objects/2026-09/')
}

function isRequiredRule({ extra }: HubspotError): boolean {
  return JSON.stringify(extra['errors'] ?? '').includes('MISSING_CONDITIONAL_REQUIRED_PROPERTY')
}

// Numbers and booleans are read as text. Lists and objects are not valid values.
const valueSchema = z.union([
  z.string(),
  z.number().transform(String),
  z.boolean().transform(String),
  z.null(),
])
const valuesSchema = z.record(z.string(), valueSchema)
const idSchema = z.union([z.string(), z.number().int().transform(String)])

const batchReadSchema = z.object({
  inputs: z.array(z.object({ id: idSchema })).max(100),
  properties: z.array(z.string()).default([]),
  propertiesWithHistory: z.array(z.string()).default([]),
  idProperty: z.string().optional(),
})

const batchUpdateSchema = z.object({
  inputs: z
    .array(
      z.object({
        id: idSchema,
        properties: valuesSchema,
        idProperty: z.string().optional(),
        objectWriteTraceId: z.string().optional(),
      }),
    )
    .max(100),
})

function uniqueIds(ids: readonly string[]): readonly string[] {
  const duplicates = ids.filter((id, at) => ids.indexOf(id) !== at)
  if (duplicates.length > 0)
    throw validationError(`Duplicate IDs found in batch input: [${duplicates.join(', ')}]`)
  return ids
}

function find(
  store: HubspotStore,
  type: HubspotType,
  id: string,
  idProperty?: string,
): HubspotRecord | undefined {
  if (!idProperty || idProperty === 'hs_object_id') return store.get(type, id)
  if (idProperty === 'email' && type === 'contacts') return store.emailOwner(id.toLowerCase())
  if (!store.registry.properties[type].get(idProperty)?.hasUniqueValue)
    throw validationError(`Property '${idProperty}' is not a unique property`)
  for (const record of store.list(type)) if (record.properties[idProperty] === id) return record
  return undefined
}

function refuseIdProperty(store: HubspotStore, type: HubspotType, idProperty: string): void {
  if (idProperty === 'hs_object_id' || store.registry.properties[type].get(idProperty)?.hasUniqueValue) return
  throw validationError(
    `Unable to perform update/upsert by non-unique ${type === 'contacts' ? '0-1' : '0-2'} property`,
  )
}

function propertiesOf(queries: readonly string[] | undefined): string[] {
  return (queries ?? []).flatMap((query) => query.split(',')).filter(Boolean)
}
