import { z } from 'zod'
import type { WorkflowCallbacks } from '../../store/messages/workflow-callbacks.ts'
import { requestEnrichment, resolveTarget, type Enrichment } from '../tasks/enrichment.ts'
import { type Authenticator } from '../server/caller.ts'
import { route, type Route } from '../server/route.ts'
import { assertConnected } from './hook-answer.ts'
import { hubspotEntities, hubspotId, hubspotType } from './hubspot-card.ts'

const body = z.object({
  callbackId: z.string().regex(/^[\w.:-]{1,200}$/, 'is not a valid callback id'),
  object: z.object({ objectId: hubspotId, objectType: hubspotType.describe('COMPANY or CONTACT') }),
  inputFields: z.object({ recipe: z.string().max(100).nullish() }).optional(),
})

const blocked = z.object({
  outputFields: z.object({
    hs_execution_state: z.literal('BLOCK'),
    hs_expiration_duration: z.literal('P1D'),
  }),
})

/** HubSpot continues the workflow without us after this time. */
export const workflowTimeoutMs = 24 * 3_600_000

/** A step of a workflow. It blocks until its task has ended; app/web/workflow-callbacks.ts then completes it. */
export function hubspotWorkflowRoute(
  enrichment: Enrichment,
  callbacks: Pick<WorkflowCallbacks, 'add' | 'has'>,
  authenticator: Authenticator,
): Route {
  return route({
    method: 'post',
    path: '/hooks/hubspot/workflow',
    operationId: 'hubspotWorkflow',
    summary: 'Enrich from a HubSpot workflow',
    description:
      'Blocks the execution; a callback completes it with `status`, `reason`, `fieldsFilled` and `costUsd`. Requests with the same `callbackId` are one execution.',
    authenticator,
    body,
    answers: { 200: { description: 'The execution is blocked', schema: blocked } },
    async handle({ body: input, caller }) {
      assertConnected(enrichment, 'hubspot')
      const { callbackId, object, inputFields } = input
      const target = resolveTarget(
        enrichment,
        {
          connector: 'hubspot',
          object: hubspotEntities[object.objectType.toLowerCase()] ?? object.objectType,
          recipe: inputFields?.recipe ?? undefined,
        },
        { connector: '', object: '/object/objectType' },
      )
      if (!(await callbacks.has(callbackId))) {
        const [task] = await requestEnrichment(enrichment, target, [object.objectId], {
          caller,
          trigger: 'workflow',
        })
        // If the process dies here it has not responded: HubSpot retries and finds the same task.
        if (task) await callbacks.add(callbackId, task.taskId)
      }
      const answer: z.input<typeof blocked> = {
        outputFields: { hs_execution_state: 'BLOCK', hs_expiration_duration: 'P1D' },
      }
      return Response.json(answer)
    },
  })
}
