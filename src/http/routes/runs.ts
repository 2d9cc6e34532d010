import { z } from 'zod'
import { formatUsd } from '../../domain/money.ts'
import { objectKinds } from '../../domain/words.ts'
import type { Run, RunLedger } from '../../store/runs/runs.ts'
import type { RunFigures } from '../../store/views/run-figures.ts'
import type { TaskLedger } from '../../store/runs/tasks.ts'
import { assertMaySee } from '../callers/api-token.ts'
import { wantsEvents, type EventStreams } from '../server/events.ts'
import { Problem } from '../server/problem.ts'
import { type Authenticator } from '../server/caller.ts'
import { route, type Call, type Route } from '../server/route.ts'

const params = z.object({ id: z.string().max(64) })
type RunCall = Call<z.output<typeof params>, unknown, unknown>

const count = z.int().min(0)
const runSchema = z.object({
  id: z.string(),
  connector: z.string(),
  object: z.enum(objectKinds),
  entity: z.string(),
  recipe: z.string(),
  trigger: z.string().describe('sync, button (on-demand request), workflow, monitor …'),
  state: z.enum(['scanning', 'working', 'stopped', 'parked', 'finished', 'failed']),
  records: count,
  startedAt: z.iso.datetime(),
  finishedAt: z.iso.datetime().nullable(),
  tasks: z.object({
    queued: count,
    looking_up: count,
    ready: count,
    written: count,
    unchanged: count,
    skipped: count,
    rejected: count,
    parked: count,
  }),
  spend: z.object({
    currency: z.literal('USD'),
    settled: z.string(),
    inDoubt: z.string(),
    lost: z.string(),
  }),
})

type RunDocument = z.input<typeof runSchema>

export interface RunReader {
  runs: Pick<RunLedger, 'get'>
  figures: (runId: string) => Promise<RunFigures>
  tasks: Pick<TaskLedger, 'counts'>
  onError: (error: unknown) => void
}

const everyMs = 500

/** A run's figures, once or as a stream. */
export function runRoutes(reader: RunReader, streams: EventStreams, authenticator: Authenticator): Route[] {
  async function runOf({ params: { id }, caller }: RunCall): Promise<Run> {
    const run = await reader.runs.get(id)
    if (!run || run.state === 'planned') throw new Problem(404, 'not_found', 'run not found')
    const { token, askers } = run.source
    const tokens = [token, ...(Array.isArray(askers) ? askers : [])]
    assertMaySee(caller, { tokens: tokens.filter((id) => typeof id === 'string') })
    return run
  }

  async function events(call: RunCall): Promise<Response> {
    const found = await runOf(call)
    const first = await runJson(found, reader)
    return streams.open(call.context, ({ send, end }) => {
      let last = ''
      let isOver = false
      let timer: NodeJS.Timeout | undefined
      const tell = (document: RunDocument) => {
        const text = JSON.stringify(document)
        if (text !== last) send('run', document)
        last = text
        if (document.state === 'finished' || document.state === 'failed') end()
        else timer = setTimeout(again, everyMs)
      }
      const poll = async () => {
        const run = await reader.runs.get(found.id)
        const document = run && (await runJson(run, reader))
        if (!document || isOver) end()
        else tell(document)
      }
      const again = () =>
        void poll().catch((error: unknown) => {
          reader.onError(error)
          end()
        })
      // The first state is there before anything can end the stream, so that no reader is left with nothing.
      tell(first)
      return () => {
        isOver = true
        clearTimeout(timer)
      }
    })
  }

  return [
    route({
      method: 'get',
      path: '/v1/runs/{id}',
      operationId: 'getRun',
      summary: 'Get a run',
      description: 'With `Accept: text/event-stream` the same as `/v1/runs/{id}/events`.',
      authenticator,
      params,
      answers: { 200: { description: 'The run', schema: runSchema } },
      async handle(call) {
        return wantsEvents(call.context)
          ? events(call)
          : Response.json(await runJson(await runOf(call), reader))
      },
    }),
    route({
      method: 'get',
      path: '/v1/runs/{id}/events',
      operationId: 'followRun',
      summary: 'Follow a run',
      description:
        'Server-sent events named `run`, each with the whole run. The stream ends when the run has ended.',
      authenticator,
      params,
      answers: {
        200: { description: 'The event stream', schema: z.string(), contentType: 'text/event-stream' },
      },
      handle: events,
    }),
  ]
}

async function runJson(run: Run, { figures, tasks }: RunReader): Promise<RunDocument> {
  const [{ spend }, counts] = await Promise.all([figures(run.id), tasks.counts(run.id)])
  return {
    id: run.id,
    connector: run.connector,
    object: run.object,
    entity: run.entity,
    recipe: run.recipe,
    trigger: run.trigger,
    state: run.state as RunDocument['state'],
    records: run.records,
    startedAt: run.startedAt.toISOString(),
    finishedAt: run.finishedAt?.toISOString() ?? null,
    tasks: counts,
    spend: {
      currency: 'USD',
      settled: formatUsd(spend.settledAtomic),
      inDoubt: formatUsd(spend.inDoubtAtomic),
      lost: formatUsd(spend.lostAtomic),
    },
  }
}
