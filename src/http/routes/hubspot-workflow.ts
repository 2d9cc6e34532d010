import { z } from 'zod'
import type { WorkflowCallbacks } from '../../store/messages/workflow-callbacks.ts'
import { requestEnrichment, resolveTarget, type Enrichment } from '../tasks/enrichment.ts'
import { type Authenticator } from '../server/caller.ts'
import { route, type Route } from '../server/route.ts'
import { assertConnected } from './hook-answer.ts'
import { hubspotEntities, hubspotId, hubspotType } from './hubspot-card.ts'

const body = z.object({
  callbackId: z.string().regex(/^[\w.:-]{1,200}$/, 'is not the id of a callback'),
  object: z.object({ objectId: hubspotId, objectType: hubspotType.describe('COMPANY or CONTACT') }),
  inputFields: z.object({ recipe: z.string().max(100).nullish() }).optional(),
})

const blocked = z.object({
  outputFields: z.object({
    hs_execution_state: z.literal('BLOCK'),
    hs_expiration_duration: z.literal('P1D'),
  }),
})

/** HubSpot goes on without us after so long. */
export const workflowTimeoutMs = 24 * 3_600_000

/** A step of a workflow: it stands still until its task has ended, and is then told to go on (app/workflow-rounds.ts). */
export function hubspotWorkflowRoute(
  enrichment: Enrichment,
  callbacks: Pick<WorkflowCallbacks, 'add' | 'has'>,
  door: Authenticator,
): Route {
  return route({
    method: 'post',
    path: '/hooks/hubspot/workflow',
    operationId: 'hubspotWorkflow',
    summary: 'A step of a HubSpot workflow',
    description:
      'Blocks the execution, which is completed by a callback with `status`, `reason`, `fieldsFilled` and `costUsd`. The same `callbackId` asked for twice is one execution.',
    authenticator: door,
    body,
    answers: { 200: { description: 'The execution waits', schema: blocked } },
    async handle({ body: asked, caller }) {
      assertConnected(enrichment, 'hubspot')
      const { callbackId, object, inputFields } = asked
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
        // A process that dies here has answered nothing: HubSpot asks again, and finds the same task.
        if (task) await callbacks.add(callbackId, task.taskId)
      }
      const answer: z.input<typeof blocked> = {
        outputFields: { hs_execution_state: 'BLOCK', hs_expiration_duration: 'P1D' },
      }
      return Response.json(answer)
    },
  })
}
