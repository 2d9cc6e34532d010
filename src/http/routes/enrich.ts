import { z } from 'zod'
import { crmNames, crmOf } from '../../connectors/definitions.ts'
import { taskSchema, taskJson, statusSchema } from '../tasks/task-json.ts'
import type { Authenticator } from '../server/caller.ts'
import type { Route } from '../server/route.ts'
import { route } from '../server/route.ts'
import { requestEnrichment, resolveTarget, type Enrichment } from '../tasks/enrichment.ts'

const recordId = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'is not the id of a record')
const recipeName = z.string().min(1).max(100)

const entityNames = crmNames.flatMap((name) => Object.keys(crmOf(name).entities))

const body = z.strictObject({
  connector: z.string().min(1).max(50).describe(crmNames.join(' or ')),
  object: z
    .string()
    .min(1)
    .max(50)
    .describe(`company, person, or the CRM’s own name (${entityNames.join(', ')})`),
  ids: z.array(recordId).min(1).max(100).describe('The CRM’s own ids'),
  recipe: recipeName.optional().describe('Default: the one of the config'),
})

const accepted = z.object({
  runId: z.string(),
  tasks: z.array(
    z.object({
      id: z.string(),
      recordId: z.string(),
      runId: z.string().describe('Another run’s where the record was asked for within the last minute'),
      status: statusSchema,
      url: z.string(),
    }),
  ),
  statusUrl: z.string(),
})
const finished = z.object({
  runId: z.string(),
  tasks: z.array(taskSchema),
  statusUrl: z.string(),
})

/** A HubSpot card gives up at 15 seconds, and so do others. */
const longestWaitSeconds = 13

export function enrichRoute(enrichment: Enrichment, door: Authenticator): Route {
  const { views, watch, ids } = enrichment
  return route({
    method: 'post',
    path: '/v1/enrich',
    operationId: 'enrich',
    summary: 'Enrich records now',
    description:
      'Makes a task of each record. A record that is asked for twice within a minute, by whomever, is one task. With `wait` the answer comes when all have ended, or after so many seconds.',
    authenticator: door,
    query: z.object({
      wait: z.coerce.number().int().min(0).max(longestWaitSeconds).default(0).describe('Seconds'),
    }),
    body,
    answers: {
      200: { description: 'All have ended (only with `wait`)', schema: finished },
      202: { description: 'Begun', schema: accepted },
    },
    async handle({ body: asked, query, caller, receivedMs, signal }) {
      const target = resolveTarget(enrichment, asked)
      const pressed = await requestEnrichment(enrichment, target, asked.ids, { caller, trigger: 'button' })
      const made = pressed.find(({ isNew }) => isNew) ?? pressed[0]
      const runId = made?.runId ?? ''
      const statusUrl = `/v1/runs/${runId}`
      const taskIds = pressed.map(({ taskId }) => taskId)
      const isSettled =
        query.wait > 0 &&
        (await watch.waitUntilDone(taskIds, { untilMs: receivedMs + query.wait * 1000, signal }))
      const found = new Map((await views.get(taskIds)).map((view) => [view.id, view]))
      const inOrder = taskIds.flatMap((id) => found.get(id) ?? [])
      if (isSettled && inOrder.every(({ status }) => status !== 'parked'))
        return Response.json({ runId, tasks: inOrder.map((view) => taskJson(view, ids)), statusUrl })
      const tasks = inOrder.map((view) => ({
        id: ids.nameOf(view.id),
        recordId: view.recordId,
        runId: view.runId,
        status: view.status,
        url: `/v1/tasks/${ids.nameOf(view.id)}`,
      }))
      return Response.json({ runId, tasks, statusUrl }, { status: 202, headers: { location: statusUrl } })
    },
  })
}
