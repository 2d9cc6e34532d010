import { z } from 'zod'
import { resolveTarget, type Enrichment } from '../tasks/enrichment.ts'
import { type Authenticator } from '../server/caller.ts'
import { route, type Route } from '../server/route.ts'
import { answerHook, assertConnected, hookAnswerSchema } from './hook-answer.ts'

/** HubSpot names an object by its plural, its type id or, in workflows, by its singular. */
export const hubspotEntities: Readonly<Record<string, string>> = {
  companies: 'companies',
  company: 'companies',
  '0-2': 'companies',
  contacts: 'contacts',
  contact: 'contacts',
  '0-1': 'contacts',
}
export const hubspotId = z.coerce.string().regex(/^\d{1,19}$/, 'is not a valid record id')
export const hubspotType = z
  .string()
  .refine(
    (name) => Object.hasOwn(hubspotEntities, name.toLowerCase()),
    'must be companies (0-2) or contacts (0-1)',
  )

const body = z.object({
  action: z.enum(['enrich', 'status']),
  objectType: hubspotType.describe('companies or contacts, or 0-2 or 0-1'),
  objectId: hubspotId,
  recipe: z.string().max(100).optional(),
  taskId: z.string().max(64).optional().describe('For `status`: the id from an earlier response'),
})

export function hubspotCardRoute(enrichment: Enrichment, authenticator: Authenticator): Route {
  return route({
    method: 'post',
    path: '/hooks/hubspot/card',
    operationId: 'hubspotCard',
    summary: 'Enrich from a HubSpot card or bulk action',
    description: '`enrich` waits up to 10 seconds for the result; `status` returns the current state.',
    authenticator,
    body,
    answers: { 200: { description: 'The current state', schema: hookAnswerSchema } },
    async handle({ body: input, caller, receivedMs, signal }) {
      assertConnected(enrichment, 'hubspot')
      const { action, objectId: recordId, taskId, recipe } = input
      const object = hubspotEntities[input.objectType.toLowerCase()] ?? input.objectType
      const target = resolveTarget(
        enrichment,
        { connector: 'hubspot', object, recipe },
        { connector: '', object: '/objectType' },
      )
      return answerHook(enrichment, { action, target, recordId, taskId, caller, receivedMs, signal })
    },
  })
}
