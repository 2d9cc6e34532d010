import type { Hono } from 'hono'
import { z } from 'zod'
import { batchAnswer, objectType, parseBody, scope, simpleObject, type BatchError } from '../answers.ts'
import type { HubspotAuth } from '../auth.ts'
import { validationError, type HubspotError } from '../errors.ts'
import type { HubspotEnv } from '../gate.ts'
import {
  contactExists,
  enforces,
  find,
  idSchema,
  refuseIdProperty,
  refuseInput,
  uniqueIds,
  valuesSchema,
  type InputDeps,
} from '../inputs.ts'
import type { HubspotType } from '../properties.ts'
import type { HubspotRecord } from '../store.ts'

interface MakingDeps extends InputDeps {
  readonly auth: HubspotAuth
  readonly now: () => number
}

interface Input {
  readonly record: HubspotRecord | undefined
  readonly properties: Readonly<Record<string, string | null>>
  readonly traceId: string | undefined
}

/** Batch create, upsert and archive, below `/crm/v3/objects` and `/crm/objects/2026-09`. */
export function addMakingRoutes(app: Hono<HubspotEnv>, deps: MakingDeps): void {
  const { store, auth, now } = deps

  app.post('/:type/batch/create', async (c) => {
    const type = objectType(c.req.param('type'))
    auth.require(scope(type, 'write'))
    const { inputs } = parseBody(createSchema, await c.req.text())
    const given = inputs.map(({ properties, objectWriteTraceId }) => ({
      record: undefined,
      properties,
      traceId: objectWriteTraceId,
    }))
    const { results, errors } = make(deps, type, given, {
      isEnforcing: enforces(c.req.path),
      isUpsert: false,
    })
    return c.json(batchAnswer(results, errors, now()), errors.length > 0 ? 207 : 201)
  })

  app.post('/:type/batch/upsert', async (c) => {
    const type = objectType(c.req.param('type'))
    auth.require(scope(type, 'write'))
    const { inputs } = parseBody(upsertSchema, await c.req.text())
    uniqueIds(inputs.map(({ id }) => id))
    const given = inputs.map(({ id, idProperty, properties, objectWriteTraceId }) => {
      if (idProperty === undefined) throw validationError('idProperty is required for an upsert')
      if (idProperty !== 'email' || type !== 'contacts') refuseIdProperty(deps, type, idProperty)
      const record = find(store, type, id, idProperty)
      return { record, properties: { ...properties, [idProperty]: id }, traceId: objectWriteTraceId }
    })
    const { results, errors } = make(deps, type, given, { isEnforcing: enforces(c.req.path), isUpsert: true })
    return c.json(batchAnswer(results, errors, now()), errors.length > 0 ? 207 : 200)
  })

  // Ids that no record has are passed over without a word.
  app.post('/:type/batch/archive', async (c) => {
    const type = objectType(c.req.param('type'))
    auth.require(scope(type, 'write'))
    const { inputs } = parseBody(archiveSchema, await c.req.text())
    for (const { id } of inputs) archive(deps, type, id)
    return c.body(null, 204)
  })

  app.delete('/:type/:id', (c) => {
    const type = objectType(c.req.param('type'))
    auth.require(scope(type, 'write'))
    archive(deps, type, c.req.param('id'))
    return c.body(null, 204)
  })
}

const traced = { objectWriteTraceId: z.string().optional() }
/** The specification requires the associations of a create, even if there are none. */
const createSchema = z.object({
  inputs: z
    .array(z.object({ properties: valuesSchema, associations: z.array(z.object({})).max(0), ...traced }))
    .max(100),
})
const upsertSchema = z.object({
  inputs: z
    .array(z.object({ id: idSchema, idProperty: z.string().optional(), properties: valuesSchema, ...traced }))
    .max(100),
})
const archiveSchema = z.object({ inputs: z.array(z.object({ id: idSchema })).max(100) })

function archive({ store }: MakingDeps, type: HubspotType, id: string): void {
  const record = store.get(type, id)
  if (record?.archivedAtMs === undefined && record) store.archive(type, record.id)
}

/**
 * Writes the inputs in their order, each into its record or a new one. One that is refused fails the whole batch before
 * anything is written, or only itself, as the fault `batchErrors` says: HubSpot describes both for batches ("Multi-status
 * errors" of its guide to error handling, and https://github.com/HubSpot/hubspot-api-python/issues/51).
 */
function make(
  deps: MakingDeps,
  type: HubspotType,
  inputs: readonly Input[],
  { isEnforcing, isUpsert }: { isEnforcing: boolean; isUpsert: boolean },
): { results: object[]; errors: BatchError[] } {
  const { store, faults } = deps
  const check = ({ record, properties }: Input): ReturnType<typeof refuseInput> => {
    const checked = refuseInput(deps, type, record, properties, isEnforcing)
    const missing = record === undefined ? refuseUnnamed(type, checked.values) : undefined
    return { ...checked, error: checked.error ?? missing }
  }
  if (faults.batchErrors === 'whole') {
    const emails = new Set<string>()
    for (const input of inputs) {
      const { error, values } = check(input)
      if (error) throw error
      const email = type === 'contacts' ? values.get('email') : undefined
      if (email && emails.has(email)) throw contactExists(undefined)
      if (email) emails.add(email)
    }
  }
  const results: object[] = []
  const errors: BatchError[] = []
  for (const input of inputs) {
    const { error, values } = check(input)
    const trace = input.traceId === undefined ? {} : { objectWriteTraceId: input.traceId }
    if (error) {
      errors.push(batchError(error, input.traceId))
      continue
    }
    const filled = Object.fromEntries([...values].filter(([, value]) => value !== ''))
    const record = input.record
      ? store.edit(type, input.record.id, Object.fromEntries(values))
      : store.add(type, { properties: filled, isNoted: true })
    results.push({
      ...simpleObject(record, [...values.keys()], store),
      ...(isUpsert ? { new: input.record === undefined } : {}),
      ...trace,
    })
  }
  // The order of the answer is none that helps.
  return { results: results.toReversed(), errors }
}

/** A company needs a name or a domain, a contact an e-mail or a name (HubSpot's guides to companies and contacts). */
function refuseUnnamed(type: HubspotType, values: ReadonlyMap<string, string>): HubspotError | undefined {
  const needed = type === 'contacts' ? ['email', 'firstname', 'lastname'] : ['name', 'domain']
  if (needed.some((name) => values.get(name))) return undefined
  return validationError(
    `Error creating ${type === 'contacts' ? 'CONTACT' : 'COMPANY'}. Some required properties were not set.`,
    { context: { properties: needed } },
  )
}

function batchError({ category, message, extra }: HubspotError, traceId: string | undefined): BatchError {
  return {
    status: 'error',
    category,
    message,
    ...(extra['errors'] ? { errors: extra['errors'] as object[] } : {}),
    context: {
      ...(extra['context'] as Record<string, string[]> | undefined),
      ...(traceId === undefined ? {} : { objectWriteTraceId: [traceId] }),
    },
  }
}
