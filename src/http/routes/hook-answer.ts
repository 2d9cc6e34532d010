import { z } from 'zod'
import { formatUsd } from '../../domain/money.ts'
import type { TaskView } from '../../store/runs/task-view.ts'
import type { Caller } from '../server/caller.ts'
import { asPeople } from '../../producers/as-people.ts'
import { recordIdOf } from '../../producers/on-demand.ts'
import { requestEnrichment, findTask, recipeFor, type Enrichment, type Target } from '../tasks/enrichment.ts'
import { Problem } from '../server/problem.ts'
import { fieldSchema, leftOutOf, leftOutSchema, statusSchema, writtenFields } from '../tasks/task-json.ts'
import { isOpen } from '../tasks/task-watch.ts'

/** The state that a card in a CRM shows. Without a task, everything but `last` is null or empty. */
export const hookAnswerSchema = z.object({
  taskId: z.string().nullable(),
  runId: z.string().nullable(),
  status: statusSchema.nullable(),
  reason: z.string().nullable(),
  fields: z.array(fieldSchema),
  leftOut: leftOutSchema,
  costUsd: z.string(),
  currency: z.enum(['USD', 'credit']),
  enrichedAt: z.iso.datetime().nullable(),
  done: z.boolean().describe('True when the task has ended or is parked'),
  last: z
    .object({
      status: statusSchema,
      reason: z.string().nullable(),
      enrichedAt: z.iso.datetime(),
      fields: z.array(fieldSchema).describe('The fields that were written'),
      costUsd: z.string(),
    })
    .nullable()
    .describe('The latest result for this record, from any run'),
})
type HookAnswer = z.output<typeof hookAnswerSchema>

export interface HookRequest {
  action: 'enrich' | 'status'
  target: Target
  recordId: string
  taskId?: string | undefined
  caller: Caller
  receivedMs: number
  signal: AbortSignal
}

/** A card times out after 15 seconds and then requests again. */
const waitMs = 10_000

/** Handles both actions of a CRM's card: `enrich` requests and waits for a while, `status` only reads. */
export async function answerHook(enrichment: Enrichment, asked: HookRequest): Promise<Response> {
  const request = await onItsEntity(enrichment, asked)
  const view =
    request.action === 'enrich'
      ? await startEnrichment(enrichment, request)
      : await readStatus(enrichment, request)
  const { connector, entity } = request.target
  const last = await enrichment.views.last({
    connector,
    entity,
    recordId: recordIdOf(connector, request.recordId),
  })
  return Response.json(hookAnswer(enrichment, view, last))
}

/** A record that is kept as another entity's is requested there: a person account as its contact. */
async function onItsEntity(enrichment: Enrichment, request: HookRequest): Promise<HookRequest> {
  const { target, recordId } = request
  const connector = enrichment.connector(target.connector)
  const asked = { ...target, ids: [recordIdOf(target.connector, recordId)] }
  const [found = asked] = await asPeople(connector, asked, (object, name) =>
    recipeFor(enrichment, object, name),
  )
  const { ids, ...itsTarget } = found
  return itsTarget.entity === target.entity
    ? request
    : { ...request, target: itsTarget, recordId: ids[0] ?? recordId }
}

async function startEnrichment(enrichment: Enrichment, request: HookRequest): Promise<TaskView | undefined> {
  const { target, recordId, caller, receivedMs, signal } = request
  const [task] = await requestEnrichment(enrichment, target, [recordId], { caller, trigger: 'button' })
  const ids = task ? [task.taskId] : []
  await enrichment.watch.waitUntilDone(ids, { untilMs: receivedMs + waitMs, signal })
  const [view] = await enrichment.views.get(ids)
  return view
}

async function readStatus(enrichment: Enrichment, request: HookRequest): Promise<TaskView | undefined> {
  if (request.taskId === undefined) return undefined
  const view = await findTask(enrichment, request.taskId)
  const { connector, entity } = request.target
  const isOfRecord =
    view.connector === connector &&
    view.entity === entity &&
    view.recordId === recordIdOf(connector, request.recordId)
  if (isOfRecord) return view
  throw new Problem(404, 'not_found', 'this record has no such task')
}

function hookAnswer({ ids }: Enrichment, view: TaskView | undefined, last: TaskView | undefined): HookAnswer {
  const isDone = view === undefined || !isOpen(view.status)
  return {
    taskId: view ? ids.nameOf(view.id) : null,
    runId: view?.runId ?? null,
    status: view?.status ?? null,
    reason: view?.reason ?? null,
    fields: view ? writtenFields(view) : [],
    leftOut: view ? leftOutOf(view) : [],
    costUsd: formatUsd(view?.costAtomic ?? 0n),
    currency: view?.currency ?? 'USD',
    enrichedAt: view && isDone && view.status !== 'parked' ? view.updatedAt.toISOString() : null,
    done: isDone,
    last: last
      ? {
          status: last.status,
          reason: last.reason,
          enrichedAt: last.updatedAt.toISOString(),
          fields: writtenFields(last),
          costUsd: formatUsd(last.costAtomic),
        }
      : null,
  }
}

/** Throws 503 unless the calling CRM is set up as a connector. */
export function assertConnected({ connector }: Pick<Enrichment, 'connector'>, name: string): void {
  if (connector(name)) return
  throw new Problem(503, 'not_connected', `${name} is not set up here: its credentials are missing`)
}
