import { Hono, type Context } from 'hono'
import { z } from 'zod'
import { maySee, type OrgAccess } from './access.ts'
import { SalesforceError, resourceNotFound } from './errors.ts'
import type { Quota, SalesforceEnv } from './gate.ts'
import { isId, toLongId } from './ids.ts'
import { childRelationships } from './making/tied.ts'
import { project, versionOf } from './routes-query.ts'
import { describeField, type FieldDefinition, type ObjectDefinition, type SalesforceType } from './schema.ts'
import { objectOf, type Column } from './soql-run.ts'
import { formatDateTime, type SalesforceRecord } from './store.ts'
import { updateRecords, type UpdateOptions, type WriteDeps } from './write.ts'

const MAX_COLLECTION = 200
const MAX_RETRIEVE = 2000

/** Single records and collections, describes, deletions, limits: everything below one version. */
export function recordRoutes(deps: WriteDeps, quota: Quota, now: () => number): Hono<SalesforceEnv> {
  const { store } = deps
  const app = new Hono<SalesforceEnv>()

  app.get('/limits', (c) =>
    c.json({
      DailyApiRequests: { Max: quota.limit, Remaining: Math.max(0, quota.limit - quota.used) },
      DailyBulkApiBatches: { Max: 15_000, Remaining: 15_000 },
      DailyBulkV2QueryJobs: { Max: 10_000, Remaining: 10_000 },
      DailyBulkV2QueryFileStorageMB: { Max: 976_562, Remaining: 976_562 },
    }),
  )

  app.get('/sobjects', (c) =>
    c.json({
      encoding: 'UTF-8',
      maxBatchSize: 200,
      sobjects: Object.values(store.schema)
        .filter(({ name }) => !store.access.hidden.has(name))
        .map((object) => objectSummary(object, store.access, versionOf(c))),
    }),
  )

  app.get('/sobjects/:type/describe', (c) => {
    const object = known(c.req.param('type'))
    return c.json({
      ...objectSummary(object, store.access, versionOf(c)),
      fields: [...object.fields.values()].map((field) => describeField(seen(field))),
      recordTypeInfos: [],
      childRelationships: childRelationships[object.name].map((each) => ({
        ...each,
        cascadeDelete: each.childSObject === 'Contact',
        deprecatedAndHidden: false,
      })),
    })
  })

  for (const slash of ['', '/']) {
    app.get(`/sobjects/:type/deleted${slash}`, (c) => {
      const object = known(c.req.param('type'))
      const { startMs, endMs } = replicationWindow(c)
      const deleted = [...store.list(object.name)].filter(
        ({ deletedAtMs }) => deletedAtMs !== undefined && deletedAtMs >= startMs && deletedAtMs < endMs,
      )
      return c.json({
        deletedRecords: deleted.map(({ id, deletedAtMs }) => ({
          id,
          deletedDate: formatDateTime(deletedAtMs ?? 0),
        })),
        earliestDateAvailable: formatDateTime(now() - 30 * 86_400_000),
        latestDateCovered: formatDateTime(Math.floor(Math.min(endMs, now()) / 60_000) * 60_000),
      })
    })
    app.get(`/sobjects/:type/updated${slash}`, (c) => {
      const object = known(c.req.param('type'))
      const { startMs, endMs } = replicationWindow(c)
      const updated = [...store.list(object.name)].filter(
        ({ deletedAtMs, modifiedAtMs }) =>
          deletedAtMs === undefined && modifiedAtMs >= startMs && modifiedAtMs < endMs,
      )
      return c.json({
        ids: updated.map(({ id }) => id),
        latestDateCovered: formatDateTime(Math.floor(Math.min(endMs, now()) / 60_000) * 60_000),
      })
    })
  }

  app.get('/sobjects/:type/:id', (c) => {
    const object = known(c.req.param('type'))
    const record = live(object, c.req.param('id'))
    return c.json(project(store, record, columnsOf(object, c.req.query('fields')?.split(',')), versionOf(c)))
  })

  app.patch('/sobjects/:type/:id', async (c) => {
    const object = known(c.req.param('type'))
    const record = live(object, c.req.param('id'))
    const body = parseBody(z.record(z.string(), z.unknown()), await c.req.text())
    if ('Id' in body || 'id' in body)
      throw new SalesforceError(
        400,
        'INVALID_FIELD',
        'The Id field should not be specified in the sobject data.',
      )
    const values = withoutAttributes(body)
    const [result] = await updateRecords(
      deps,
      [{ type: object.name, id: record.id, values }],
      updateOptions(c, false),
    )
    if (result && 'errors' in result) {
      const errors = result.errors.map(({ statusCode, message, fields }) => ({
        message,
        errorCode: statusCode,
        fields,
      }))
      return c.json(errors, 400)
    }
    return c.body(null, 204)
  })

  app.patch('/composite/sobjects', async (c) => {
    const body = parseBody(collectionSchema, await c.req.text())
    if (body.records.length > MAX_COLLECTION)
      throw new SalesforceError(
        400,
        'EXCEEDED_ID_LIMIT',
        `record limit reached. cannot submit more than ${MAX_COLLECTION} records into this collection`,
      )
    const updates = body.records.map((record) => {
      const id = record.id ?? record.Id
      if (id === undefined)
        throw new SalesforceError(400, 'MISSING_ARGUMENT', 'Id not specified in an update call')
      return { type: known(record.attributes.type).name, id: String(id), values: withoutAttributes(record) }
    })
    const results = await updateRecords(deps, updates, updateOptions(c, body.allOrNone))
    return c.json(
      results.map((result) =>
        'errors' in result
          ? { success: false, errors: result.errors }
          : { id: result.id, success: true, errors: [] },
      ),
    )
  })

  app.get('/composite/sobjects/:type', (c) =>
    c.json(
      retrieve(c, c.req.param('type'), c.req.query('ids')?.split(','), c.req.query('fields')?.split(',')),
    ),
  )
  app.post('/composite/sobjects/:type', async (c) => {
    const body = parseBody(retrieveSchema, await c.req.text())
    return c.json(retrieve(c, c.req.param('type'), body.ids, body.fields))
  })

  /** Returns records in the order of the ids, and null for every record that does not exist. */
  function retrieve(
    c: Context<SalesforceEnv>,
    type: string,
    ids: readonly string[] | undefined,
    fields: readonly string[] | undefined,
  ): unknown[] {
    const object = known(type)
    if (!ids || !fields)
      throw new SalesforceError(400, 'MISSING_ARGUMENT', 'ids and fields have to be specified')
    if (ids.length > MAX_RETRIEVE)
      throw new SalesforceError(400, 'EXCEEDED_ID_LIMIT', `cannot retrieve more than ${MAX_RETRIEVE} records`)
    const columns = columnsOf(object, fields)
    return ids.map((id) => {
      if (!isId(id)) throw new SalesforceError(400, 'MALFORMED_ID', `malformed id ${id}`)
      const record = store.get(object.name, id)
      const isThere = record && record.deletedAtMs === undefined && maySee(store.access, record)
      return isThere ? project(store, record, columns, versionOf(c)) : null
    })
  }

  function known(type: string): ObjectDefinition {
    try {
      return objectOf(store, type)
    } catch {
      throw resourceNotFound()
    }
  }

  /** A reference to an object that the user may not see does not say where it leads. */
  function seen(field: FieldDefinition): FieldDefinition {
    const isHidden = field.referenceTo.some((name) => store.access.hidden.has(name as SalesforceType))
    return isHidden ? { ...field, referenceTo: [], relationshipName: null } : field
  }

  function live(object: ObjectDefinition, id: string): SalesforceRecord {
    const record = isId(id) ? store.get(object.name, toLongId(id)) : undefined
    if (!record || !maySee(store.access, record))
      throw new SalesforceError(
        404,
        'NOT_FOUND',
        'Provided external ID field does not exist or is not accessible: ' + id,
      )
    if (record.deletedAtMs !== undefined)
      throw new SalesforceError(404, 'ENTITY_IS_DELETED', 'entity is deleted', [])
    return record
  }

  function columnsOf(object: ObjectDefinition, names: readonly string[] | undefined): Column[] {
    if (!names) return [...object.fields.values()].map(({ name }) => ({ name, path: [name] }))
    return names.map((given) => {
      const field = object.fields.get(given.trim().toLowerCase())
      if (!field)
        throw new SalesforceError(
          400,
          'INVALID_FIELD',
          `No such column '${given}' on sobject of type ${object.name}`,
        )
      return { name: field.name, path: [field.name] }
    })
  }

  function replicationWindow(c: Context<SalesforceEnv>): { startMs: number; endMs: number } {
    const startMs = Date.parse(c.req.query('start') ?? '')
    const endMs = Date.parse(c.req.query('end') ?? '')
    const refuse = (message: string): SalesforceError =>
      new SalesforceError(400, 'INVALID_REPLICATION_DATE', message)
    if (Number.isNaN(startMs) || Number.isNaN(endMs))
      throw new SalesforceError(400, 'MISSING_ARGUMENT', 'start and end have to be specified')
    if (endMs - startMs < 60_000)
      throw refuse('The end date must be at least one minute after the start date')
    if (startMs < now() - 30 * 86_400_000) throw refuse('startDate before org replication enabled date')
    return { startMs, endMs }
  }

  return app
}

export function parseBody<T extends z.ZodType>(schema: T, text: string): z.infer<T> {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw new SalesforceError(400, 'JSON_PARSER_ERROR', 'Unexpected character at [line:1, column:1]')
  }
  const parsed = schema.safeParse(json)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new SalesforceError(
    400,
    'JSON_PARSER_ERROR',
    `${issue?.path.join('.')}: ${issue?.message} at [line:1, column:1]`,
  )
}

export const collectionSchema = z.object({
  allOrNone: z.boolean().default(false),
  records: z.array(z.looseObject({ attributes: z.looseObject({ type: z.string() }) })),
})

const retrieveSchema = z.object({ ids: z.array(z.string()), fields: z.array(z.string()) })

export function withoutAttributes(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record).filter(([name]) => !['attributes', 'id', 'Id'].includes(name)),
  )
}

export function updateOptions(c: Context<SalesforceEnv>, allOrNone: boolean): UpdateOptions {
  return {
    allOrNone,
    allowDuplicates: /allowSave=true/i.test(c.req.header('sforce-duplicate-rule-header') ?? ''),
    usesAssignment: !/^false$/i.test(c.req.header('sforce-auto-assign') ?? ''),
  }
}

function objectSummary({ name, keyPrefix }: ObjectDefinition, access: OrgAccess, version: string): object {
  const base = `/services/data/v${version}/sobjects/${name}`
  return {
    activateable: false,
    createable: !access.cannotCreate.has(name),
    custom: false,
    customSetting: false,
    deletable: !access.cannotDelete.has(name),
    keyPrefix,
    label: name,
    labelPlural: `${name}s`,
    layoutable: true,
    mergeable: true,
    name,
    queryable: true,
    replicateable: true,
    retrieveable: true,
    searchable: true,
    triggerable: true,
    undeletable: true,
    updateable: true,
    urls: { sobject: base, describe: `${base}/describe`, rowTemplate: `${base}/{ID}` },
  }
}
