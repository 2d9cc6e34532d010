import { z } from 'zod'
import { assertMaySee } from '../callers/api-token.ts'
import type { TaskView } from '../../store/runs/task-view.ts'
import { findTask, type Enrichment } from '../tasks/enrichment.ts'
import { wantsEvents, type EventStreams } from '../server/events.ts'
import { type Authenticator } from '../server/caller.ts'
import { route, type Call, type Route } from '../server/route.ts'
import { taskJson, taskSchema } from '../tasks/task-json.ts'
import { isOpen } from '../tasks/task-watch.ts'

const params = z.object({ id: z.string().max(64).describe('The id from the response of `POST /v1/enrich`') })
type TaskCall = Call<z.output<typeof params>, unknown, unknown>

/** A task's state, once or as a stream. */
export function taskRoutes(
  enrichment: Enrichment,
  streams: EventStreams,
  authenticator: Authenticator,
): Route[] {
  const { ids, views, watch } = enrichment

  async function viewOf({ params: { id }, caller }: TaskCall) {
    const view = await findTask(enrichment, id)
    assertMaySee(caller, view)
    return view
  }

  async function events(call: TaskCall): Promise<Response> {
    const first = await viewOf(call)
    return streams.open(call.context, ({ send, end }) => {
      const tell = (view: TaskView | undefined) => {
        if (view) send('task', taskJson(view, ids))
        // A parked task resumes at some point, so its stream stays open.
        if (!view || (!isOpen(view.status) && view.status !== 'parked')) end()
      }
      // The first state is there before anything can end the stream, so that no reader is left with nothing.
      tell(first)
      return watch.follow(first.id, first, () => {
        views
          .get([first.id])
          .then(([view]) => tell(view))
          .catch(end)
      })
    })
  }

  return [
    route({
      method: 'get',
      path: '/v1/tasks/{id}',
      operationId: 'getTask',
      summary: 'Get a task',
      description: 'With `Accept: text/event-stream` the same as `/v1/tasks/{id}/events`.',
      authenticator,
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
      summary: 'Follow a task',
      description:
        'Server-sent events named `task`, each with the whole task. The stream ends when the task has ended.',
      authenticator,
      params,
      answers: {
        200: { description: 'The event stream', schema: z.string(), contentType: 'text/event-stream' },
      },
      handle: events,
    }),
  ]
}
