import { Hono, type Context } from 'hono'
import { z } from 'zod'
import { SalesforceError, resourceNotFound, type SaveError } from '../errors.ts'
import type { SalesforceEnv } from '../gate.ts'
import { versionOf } from '../routes-query.ts'
import { collectionSchema, parseBody, updateOptions, withoutAttributes } from '../routes-records.ts'
import type { ObjectDefinition } from '../schema.ts'
import { objectOf } from '../soql-run.ts'
import type { SalesforceRecord } from '../store.ts'
import type { WriteDeps } from '../write.ts'
import { deleteRecords } from './delete.ts'
import { duplicateResult } from './duplicates.ts'
import { insertRecords } from './insert.ts'
import { externalIdOf, upsertRecords } from './upsert.ts'

const maxCollection = 200

/** Creation, upsert and deletion, of single records and of collections ("sObject Collections", REST API Developer Guide). */
export function makingRoutes(deps: WriteDeps): Hono<SalesforceEnv> {
  const { store } = deps
  const app = new Hono<SalesforceEnv>()

  app.post('/composite/sobjects', async (c) => {
    const { records, allOrNone } = parseBody(collectionSchema, await c.req.text())
    checkSize(records.length)
    const insertions = records.map((record) => {
      refuseIds(record)
      return { type: known(record.attributes.type).name, values: withoutAttributes(record) }
    })
    const results = await insertRecords(deps, insertions, updateOptions(c, allOrNone))
    return c.json(
      results.map((result) =>
        'errors' in result
          ? { success: false, errors: result.errors }
          : { id: result.id, success: true, errors: [] },
      ),
    )
  })

  app.patch('/composite/sobjects/:type/:field', async (c) => {
    const object = known(c.req.param('type'))
    const field = externalIdOf(object, c.req.param('field'))
    const { records, allOrNone } = parseBody(collectionSchema, await c.req.text())
    checkSize(records.length)
    const upsertions = records.map((record) => {
      refuseIds(record)
      if (known(record.attributes.type) !== object)
        throw new SalesforceError(
          400,
          'INVALID_TYPE',
          `the records of one upsert are of the object in the address, ${object.name}`,
        )
      const values = withoutAttributes(record)
      const [name] = Object.keys(values).filter((each) => each.toLowerCase() === field.name.toLowerCase())
      const key = name === undefined ? undefined : values[name]
      if (name !== undefined) delete values[name]
      return { key, values }
    })
    const results = await upsertRecords(deps, object.name, field, upsertions, updateOptions(c, allOrNone))
    return c.json(
      results.map((result) =>
        'errors' in result
          ? { success: false, errors: result.errors }
          : { id: result.id, success: true, errors: [], created: result.created },
      ),
    )
  })

  app.delete('/composite/sobjects', (c) => {
    const ids = c.req.query('ids')?.split(',') ?? []
    if (ids.length === 0) throw new SalesforceError(400, 'MISSING_ARGUMENT', 'ids has to be specified')
    checkSize(ids.length)
    const results = deleteRecords(deps, ids, c.req.query('allOrNone') === 'true')
    return c.json(
      results.map((result) =>
        'errors' in result
          ? { success: false, errors: result.errors }
          : { id: result.id, success: true, errors: [] },
      ),
    )
  })

  app.post('/sobjects/:type', async (c) => {
    const object = known(c.req.param('type'))
    const body = parseBody(z.record(z.string(), z.unknown()), await c.req.text())
    refuseIds(body)
    const insertion = { type: object.name, values: withoutAttributes(body) }
    const [result] = await insertRecords(deps, [insertion], updateOptions(c, false))
    if (!result || 'errors' in result) return refusal(c, object, result)
    return c.json({ id: result.id, success: true, errors: [] }, 201)
  })

  app.patch('/sobjects/:type/:field/:value', async (c) => {
    const object = known(c.req.param('type'))
    const field = externalIdOf(object, c.req.param('field'))
    const body = parseBody(z.record(z.string(), z.unknown()), await c.req.text())
    refuseIds(body)
    const key = c.req.param('value')
    const upsertion = { key, values: withoutAttributes(body) }
    const [result] = await upsertRecords(deps, object.name, field, [upsertion], updateOptions(c, false))
    if (!result || 'errors' in result) {
      // "300 Multiple Choices: the value returned when an external ID exists in more than one record" (Status Codes).
      if (result?.choices)
        return c.json(
          result.choices.map((record) => addressOf(c, record)),
          300,
        )
      return refusal(c, object, result)
    }
    return c.json({ ...result, success: true, errors: [] }, result.created ? 201 : 200)
  })

  app.delete('/sobjects/:type/:id', (c) => {
    const object = known(c.req.param('type'))
    const id = c.req.param('id')
    if (!id.startsWith(object.keyPrefix)) throw resourceNotFound()
    const [result] = deleteRecords(deps, [id], false)
    return !result || 'errors' in result ? refusal(c, object, result) : c.body(null, 204)
  })

  function known(type: string): ObjectDefinition {
    try {
      return objectOf(store, type)
    } catch {
      throw resourceNotFound()
    }
  }

  return app
}

/** A collection of any kind takes 200 records. */
function checkSize(count: number): void {
  if (count > maxCollection)
    throw new SalesforceError(
      400,
      'EXCEEDED_ID_LIMIT',
      `record limit reached. cannot submit more than ${maxCollection} records into this collection`,
    )
}

function refuseIds(record: Readonly<Record<string, unknown>>): void {
  if ('Id' in record || 'id' in record)
    throw new SalesforceError(
      400,
      'INVALID_FIELD',
      'The Id field should not be specified in the sobject data.',
    )
}

/** The answer of a single record names the matches of a duplicate rule; that of a collection does not. */
function refusal(
  c: Context<SalesforceEnv>,
  { name }: ObjectDefinition,
  result: { errors: readonly SaveError[]; matches?: readonly SalesforceRecord[] } | undefined,
): Response {
  const { errors = [], matches } = result ?? {}
  const details = matches ? duplicateResult(name, matches, versionOf(c)) : {}
  const code = errors[0]?.statusCode
  const isUnknown = code === 'INVALID_CROSS_REFERENCE_KEY' || code === 'ENTITY_IS_DELETED'
  return c.json(
    errors.map(({ statusCode, message, fields }) => ({ ...details, errorCode: statusCode, message, fields })),
    isUnknown && c.req.method === 'DELETE' ? 404 : 400,
  )
}

function addressOf(c: Context<SalesforceEnv>, { type, id }: SalesforceRecord): string {
  return `/services/data/v${versionOf(c)}/sobjects/${type}/${id}`
}
