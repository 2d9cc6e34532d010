import { z } from 'zod'
import { assertMaySee } from '../callers/api-token.ts'
import { findTask, type Enrichment } from '../tasks/enrichment.ts'
import { wantsEvents, type EventStreams } from '../server/events.ts'
import { type Authenticator } from '../server/caller.ts'
import { route, type Call, type Route } from '../server/route.ts'
import { taskJson, taskSchema } from '../tasks/task-json.ts'
import { isOpen } from '../tasks/task-watch.ts'

const params = z.object({ id: z.string().max(64).describe('As `POST /v1/enrich` answered it') })
type TaskCall = Call<z.output<typeof params>, unknown, unknown>

/** A task's state, once or as it changes. */
export function taskRoutes(enrichment: Enrichment, streams: EventStreams, door: Authenticator): Route[] {
  const { ids, views, watch } = enrichment

  async function viewOf({ params: { id }, caller }: TaskCall) {
    const view = await findTask(enrichment, id)
    assertMaySee(caller, view)
    return view
  }

  async function events(call: TaskCall): Promise<Response> {
    const { id } = await viewOf(call)
    return streams.open(call.context, ({ send, end }) =>
      watch.follow(id, () => {
        views
          .get([id])
          .then(([view]) => {
            if (view) send('task', taskJson(view, ids))
            // A parked one goes on some time: whoever looks on sees it.
            if (!view || (!isOpen(view.status) && view.status !== 'parked')) end()
          })
          .catch(end)
      }),
    )
  }

  return [
    route({
      method: 'get',
      path: '/v1/tasks/{id}',
      operationId: 'getTask',
      summary: 'How a task stands',
      description: 'With `Accept: text/event-stream` the same as `/v1/tasks/{id}/events`.',
      authenticator: door,
      params,
      answers: { 200: { description: 'The task', schema: taskSchema } },
      async handle(call) {
        return wantsEvents(call.context) ? events(call) : Response.json(taskJson(await viewOf(call), ids))
      },
    }),
    route({
      method: 'get',
      path: '/v1/tasks/{id}/events',
      operationId: 'followTask',
      summary: 'A task as it changes',
      description:
        'Server-sent events named `task`, each with the whole task; the last one when it has ended.',
      authenticator: door,
      params,
      answers: { 200: { description: 'The events', schema: z.string(), contentType: 'text/event-stream' } },
      handle: events,
    }),
  ]
}
