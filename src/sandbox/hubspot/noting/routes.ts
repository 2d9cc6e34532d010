import { Hono } from 'hono'
import { z } from 'zod'
import { batchAnswer, parseBody, type BatchError } from '../answers.ts'
import type { HubspotAuth } from '../auth.ts'
import { notFound } from '../errors.ts'
import type { HubspotFaults } from '../faults.ts'
import type { HubspotEnv } from '../gate.ts'
import { idSchema, uniqueIds, valuesSchema } from '../inputs.ts'
import type { HubspotStore } from '../store.ts'
import type { ActivityKind, HubspotActivity } from './activities.ts'
import { tiesFrom, valuesFault } from './rules.ts'

interface Deps {
  readonly store: HubspotStore
  readonly auth: HubspotAuth
  readonly faults: HubspotFaults
  readonly portalId: number
  readonly now: () => number
}

/** By the specification every activity needs the right to contacts, and no other one. */
const [readScope, writeScope] = ['crm.objects.contacts.read', 'crm.objects.contacts.write']
const defaults: Readonly<Record<ActivityKind, readonly string[]>> = { notes: [], tasks: ['hs_task_subject'] }

/** Notes and tasks, below `/crm/v3/objects` and `/crm/objects/2026-09`. Everything else of them is answered nowhere. */
export function noteRoutes(deps: Deps): Hono<HubspotEnv> {
  const { store, auth, faults, now } = deps
  const app = new Hono<HubspotEnv>()
  const kindOf = (text: string): ActivityKind => text as ActivityKind
  const shown = (activity: HubspotActivity, names: readonly string[]): object => ({
    id: activity.id,
    properties: {
      ...Object.fromEntries(
        (names.length > 0 ? names : defaults[activity.kind]).map((name) => [
          name,
          activity.properties[name] ?? null,
        ]),
      ),
      hs_createdate: new Date(activity.createdAtMs).toISOString(),
      hs_lastmodifieddate: new Date(activity.modifiedAtMs).toISOString(),
      hs_object_id: activity.id,
    },
    createdAt: new Date(activity.createdAtMs).toISOString(),
    updatedAt: new Date(activity.modifiedAtMs).toISOString(),
    archived: activity.archivedAtMs !== undefined,
  })
  const there = (kind: ActivityKind, id: string): HubspotActivity | undefined => {
    const found = store.activities.all.get(id)
    return found?.kind === kind && found.archivedAtMs === undefined ? found : undefined
  }

  app.post('/:kind{notes|tasks}/batch/create', async (c) => {
    const kind = kindOf(c.req.param('kind'))
    auth.require(writeScope)
    const { inputs } = parseBody(createSchema, await c.req.text())
    const checked = inputs.map(({ properties, associations, objectWriteTraceId: trace }) => {
      const values = Object.fromEntries(
        Object.entries(properties).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
      )
      const error = valuesFault(store, deps.portalId, kind, values)
      const tied = tiesFrom(store, kind, associations)
      return {
        values,
        trace,
        error: error ?? ('error' in tied ? tied.error : undefined),
        ties: 'ties' in tied ? tied.ties : [],
      }
    })
    const bad = checked.find(({ error }) => error)?.error
    if (bad && faults.batchErrors === 'whole') throw bad
    const results: object[] = []
    const errors: BatchError[] = []
    for (const { values, trace, error, ties } of checked) {
      const traced = trace === undefined ? {} : { objectWriteTraceId: trace }
      if (error)
        errors.push({
          status: 'error',
          category: error.category,
          message: error.message,
          ...(error.extra['errors'] ? { errors: error.extra['errors'] as object[] } : {}),
          context: trace === undefined ? {} : { objectWriteTraceId: [trace] },
        })
      else
        results.push({ ...shown(store.activities.add(kind, values, ties), Object.keys(values)), ...traced })
    }
    // The order of the answer is none that helps.
    return c.json(batchAnswer(results.toReversed(), errors, now()), errors.length > 0 ? 207 : 201)
  })

  app.post('/:kind{notes|tasks}/batch/read', async (c) => {
    const kind = kindOf(c.req.param('kind'))
    auth.require(readScope)
    const { inputs, properties } = parseBody(readSchema, await c.req.text())
    const ids = uniqueIds(inputs.map(({ id }) => id))
    const found = ids.flatMap((id) => there(kind, id) ?? [])
    const missing = ids.filter((id) => !there(kind, id))
    const errors: BatchError[] =
      missing.length === 0
        ? []
        : [
            {
              status: 'error',
              category: 'OBJECT_NOT_FOUND',
              message: `Could not get some ${kind === 'notes' ? 'NOTE' : 'TASK'} objects, they may be deleted or not exist. Check that ids are valid.`,
              context: { ids: missing },
            },
          ]
    return c.json(
      batchAnswer(
        found.map((activity) => shown(activity, properties)),
        errors,
        now(),
      ),
      errors.length > 0 ? 207 : 200,
    )
  })

  // Ids that none has are passed over without a word.
  app.post('/:kind{notes|tasks}/batch/archive', async (c) => {
    const kind = kindOf(c.req.param('kind'))
    auth.require(writeScope)
    const { inputs } = parseBody(
      z.object({ inputs: z.array(z.object({ id: idSchema })).max(100) }),
      await c.req.text(),
    )
    for (const { id } of inputs) if (there(kind, id)) store.activities.archive(id)
    return c.body(null, 204)
  })

  app.get('/:kind{notes|tasks}/:id', (c) => {
    auth.require(readScope)
    const found = there(kindOf(c.req.param('kind')), c.req.param('id'))
    if (!found) throw notFound('Object not found.  objectId are usually numeric.')
    return c.json(shown(found, (c.req.query('properties') ?? '').split(',').filter(Boolean)))
  })
  return app
}

const createSchema = z.object({
  inputs: z
    .array(
      z.object({
        properties: valuesSchema,
        associations: z.array(
          z.object({
            to: z.object({ id: idSchema }),
            types: z
              .array(z.object({ associationCategory: z.string(), associationTypeId: z.number().int() }))
              .min(1),
          }),
        ),
        objectWriteTraceId: z.string().optional(),
      }),
    )
    .max(100),
})
const readSchema = z.object({
  inputs: z.array(z.object({ id: idSchema })).max(100),
  properties: z.array(z.string()).default([]),
  propertiesWithHistory: z.array(z.string()).default([]),
})
