import { z } from 'zod'
import { resolveTarget, type Enrichment } from '../tasks/enrichment.ts'
import { type Authenticator } from '../server/caller.ts'
import { route, type Route } from '../server/route.ts'
import { answerHook, assertConnected, hookAnswerSchema } from './hook-answer.ts'

const body = z.object({
  action: z.enum(['enrich', 'status']),
  object: z.string().min(1).max(80).describe('Account, Contact or Lead'),
  recordId: z.string().regex(/^[A-Za-z0-9]{15}(?:[A-Za-z0-9]{3})?$/, 'is not a valid record id'),
  recipe: z.string().max(100).optional(),
  taskId: z.string().max(64).optional().describe('For `status`: the id from an earlier response'),
})

export function salesforceRoute(enrichment: Enrichment, authenticator: Authenticator): Route {
  return route({
    method: 'post',
    path: '/hooks/salesforce',
    operationId: 'salesforceAction',
    summary: 'Enrich from a Salesforce record',
    description: '`enrich` waits up to 10 seconds for the result; `status` returns the current state.',
    authenticator,
    body,
    answers: { 200: { description: 'The current state', schema: hookAnswerSchema } },
    async handle({ body: input, caller, receivedMs, signal }) {
      assertConnected(enrichment, 'salesforce')
      const { action, object, recordId, taskId, recipe } = input
      const target = resolveTarget(
        enrichment,
        { connector: 'salesforce', object, recipe },
        { connector: '', object: '/object' },
      )
      return answerHook(enrichment, { action, target, recordId, taskId, caller, receivedMs, signal })
    },
  })
}
