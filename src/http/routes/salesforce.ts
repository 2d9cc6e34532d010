import { z } from 'zod'
import { recordIdOf } from '../../producers/on-demand.ts'
import { requestEnrichment, resolveTarget, type Enrichment } from '../tasks/enrichment.ts'
import { type Authenticator } from '../server/caller.ts'
import { Problem } from '../server/problem.ts'
import { route, type Route } from '../server/route.ts'
import { answerHook, assertConnected, hookAnswerSchema } from './hook-answer.ts'

const recordId = z.string().regex(/^[A-Za-z0-9]{15}(?:[A-Za-z0-9]{3})?$/, 'is not a valid record id')
const body = z.object({
  action: z
    .enum(['enrich', 'status', 'enrich_selected'])
    .describe('`enrich_selected`: all of `recordIds`, without waiting for their results'),
  object: z.string().min(1).max(80).describe('Account, Contact or Lead'),
  recordId: recordId.optional().describe('For `enrich` and `status`'),
  recordIds: z.array(recordId).min(1).max(200).optional().describe('For `enrich_selected`'),
  recipe: z.string().max(100).optional(),
  taskId: z.string().max(64).optional().describe('For `status`: the id from an earlier response'),
})

const selectedAnswer = z.object({
  requested: z.number().int().describe('Records that have a task now'),
  repeated: z.number().int().describe('How many of them were requested within the last minute already'),
})

export function salesforceRoute(enrichment: Enrichment, authenticator: Authenticator): Route {
  return route({
    method: 'post',
    path: '/hooks/salesforce',
    operationId: 'salesforceAction',
    summary: 'Enrich from a Salesforce record or list view',
    description:
      '`enrich` waits up to 10 seconds for the result; `status` returns the current state; `enrich_selected` accepts the records of a list view.',
    authenticator,
    body,
    answers: {
      200: {
        description: 'The current state; for `enrich_selected`, how many records were accepted',
        schema: z.union([hookAnswerSchema, selectedAnswer]),
      },
    },
    async handle({ body: input, caller, receivedMs, signal }) {
      assertConnected(enrichment, 'salesforce')
      const { action, object, taskId, recipe } = input
      const target = resolveTarget(
        enrichment,
        { connector: 'salesforce', object, recipe },
        { connector: '', object: '/object' },
      )
      if (action === 'enrich_selected') {
        const ids = [
          ...new Set(needed(input.recordIds, 'recordIds').map((id) => recordIdOf('salesforce', id))),
        ]
        const tasks = await requestEnrichment(enrichment, target, ids, { caller, trigger: 'button' })
        return Response.json({
          requested: tasks.length,
          repeated: tasks.filter(({ isNew }) => !isNew).length,
        } satisfies z.output<typeof selectedAnswer>)
      }
      return answerHook(enrichment, {
        action,
        target,
        recordId: needed(input.recordId, 'recordId'),
        taskId,
        caller,
        receivedMs,
        signal,
      })
    },
  })
}

function needed<T>(value: T | undefined, name: string): T {
  if (value !== undefined) return value
  const detail = 'is missing'
  const pointer = `/${name}`
  throw new Problem(422, 'invalid_input', `${pointer}: ${detail}`, { errors: [{ pointer, detail }] })
}
