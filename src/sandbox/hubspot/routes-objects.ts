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
import { notFound, validationError } from './errors.ts'
import type { HubspotEnv } from './gate.ts'
import {
  enforces,
  find,
  idSchema,
  isRequiredRule,
  refuseIdProperty,
  refuseInput,
  uniqueIds,
  valuesSchema,
  type InputDeps,
} from './inputs.ts'
import { addMakingRoutes } from './making/routes.ts'
import { runSearch } from './search.ts'
import type { HubspotRecord } from './store.ts'

export interface ObjectRoutesDeps extends InputDeps {
  readonly auth: HubspotAuth
  readonly now: () => number
}

/** The routes below one objects prefix. `/crm/v3/objects` and `/crm/objects/2026-09` behave alike. */
export function objectRoutes(deps: ObjectRoutesDeps): Hono<HubspotEnv> {
  const { store, auth, faults, now } = deps
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

  addMakingRoutes(app, deps)

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
      if (input.idProperty) refuseIdProperty(deps, type, input.idProperty)
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

  return app
}

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

function propertiesOf(queries: readonly string[] | undefined): string[] {
  return (queries ?? []).flatMap((query) => query.split(',')).filter(Boolean)
}
