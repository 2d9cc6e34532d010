import { z } from 'zod'
import { foreignHeaders } from '../../domain/monitors/foreign-headers.ts'
import type { Monitor } from '../../producers/monitor.ts'
import { anyone, type Authenticator } from '../server/caller.ts'
import { route, type Route } from '../server/route.ts'

/** Only these two properties are documented; others are accepted. */
const body = z.looseObject({
  signals: z.array(z.looseObject({})).max(10_000).optional(),
  companies: z.array(z.looseObject({})).max(10_000).optional(),
})
const received = z.object({
  received: z.literal(true),
  isNew: z.boolean().describe('False for a delivery that was received before'),
})

const bodyLimit = 1_000_000

/** Receives a monitor's deliveries. Each is stored and acknowledged before it is processed. */
export function monitorRoutes(
  monitor: Pick<Monitor, 'receive' | 'refuse'>,
  onReceived: () => void,
  ownHeaders: readonly string[],
  authenticator: Authenticator,
): Route[] {
  return [
    route({
      method: 'get',
      path: '/hooks/monitor',
      operationId: 'getMonitorHook',
      summary: 'Check that monitor deliveries are accepted',
      authenticator: anyone,
      answers: { 200: { description: 'They are accepted', schema: z.string(), contentType: 'text/plain' } },
      handle: async () => new Response('Send monitor deliveries to this address with POST.\n'),
    }),
    route({
      method: 'post',
      path: '/hooks/monitor',
      operationId: 'deliverSignals',
      summary: 'Receive a monitor delivery',
      description: 'Creates tasks for the known records of the companies in the delivery.',
      authenticator,
      body,
      bodyLimit,
      anyContentType: true,
      answers: { 200: { description: 'The delivery is stored', schema: received } },
      onUnreadable: (text, reason) => monitor.refuse(text, reason),
      async handle({ text, context }) {
        const isNew = await monitor.receive(text, foreignHeaders(context.req.raw.headers.keys(), ownHeaders))
        onReceived()
        return Response.json({ received: true, isNew })
      },
    }),
  ]
}
