import { z } from 'zod'
import { crmNames, crmOf } from '../../connectors/definitions.ts'
import { taskSchema, taskJson, statusSchema } from '../tasks/task-json.ts'
import type { Authenticator } from '../server/caller.ts'
import type { Route } from '../server/route.ts'
import { route } from '../server/route.ts'
import { requestEnrichment, resolveTarget, type Enrichment } from '../tasks/enrichment.ts'

const recordId = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'is not a valid record id')
const recipeName = z.string().min(1).max(100)

const entityNames = crmNames.flatMap((name) => Object.keys(crmOf(name).entities))

const body = z.strictObject({
  connector: z.string().min(1).max(50).describe(crmNames.join(' or ')),
  object: z
    .string()
    .min(1)
    .max(50)
    .describe(`company, person, or the CRM’s own name (${entityNames.join(', ')}), singular or plural`),
  ids: z.array(recordId).min(1).max(100).describe('Record ids of the CRM'),
  recipe: recipeName.optional().describe('Default: the recipe of the config'),
})

const accepted = z.object({
  runId: z.string(),
  tasks: z.array(
    z.object({
      id: z.string(),
      recordId: z.string(),
      runId: z
        .string()
        .describe('The id of an earlier run if the record was requested within the last minute'),
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

/** A HubSpot card times out after 15 seconds. */
const longestWaitSeconds = 13

export function enrichRoute(
  enrichment: Enrichment,
  authenticator: Authenticator,
  admitBackground: () => void,
): Route {
  const { views, watch, ids } = enrichment
  return route({
    method: 'post',
    path: '/v1/enrich',
    operationId: 'enrich',
    summary: 'Enrich records now',
    description:
      'Creates a task for each record. Requests for the same record within a minute share one task. With `wait`, responds when all tasks have ended, or after that many seconds. While the database or Redis is slow or presses wait too long, requests without `wait` are refused with 503 `overloaded` and `Retry-After`; nothing was stored or bought.',
    authenticator,
    // A person waits for a call with `wait`; one without is a program's, which can ask again.
    admit(query) {
      if (!(Number(query['wait']) > 0)) admitBackground()
    },
    query: z.object({
      wait: z.coerce.number().int().min(0).max(longestWaitSeconds).default(0).describe('Seconds'),
    }),
    body,
    answers: {
      200: { description: 'All tasks have ended (only with `wait`)', schema: finished },
      202: { description: 'The tasks were accepted', schema: accepted },
    },
    async handle({ body: input, query, caller, receivedMs, signal }) {
      const target = resolveTarget(enrichment, input)
      const requested = await requestEnrichment(enrichment, target, input.ids, { caller, trigger: 'button' })
      const first = requested.find(({ isNew }) => isNew) ?? requested[0]
      const runId = first?.runId ?? ''
      const statusUrl = `/v1/runs/${runId}`
      const taskIds = requested.map(({ taskId }) => taskId)
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
