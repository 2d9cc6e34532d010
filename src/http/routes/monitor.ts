import { z } from 'zod'
import type { Monitor } from '../../producers/monitor.ts'
import { anyone, type Authenticator } from '../server/caller.ts'
import { route, type Route } from '../server/route.ts'

/** Its shape is not documented beyond these two: what else a delivery holds is let through. */
const body = z.looseObject({
  signals: z.array(z.looseObject({})).max(10_000).optional(),
  companies: z.array(z.looseObject({})).max(10_000).optional(),
})
const received = z.object({
  received: z.literal(true),
  isNew: z.boolean().describe('False for a delivery that came before'),
})

const bodyLimit = 1_000_000

/** Deliveries of a monitor. They are kept, and answered, before anything is done with them. */
export function monitorRoutes(
  monitor: Pick<Monitor, 'receive'>,
  onReceived: () => void,
  door: Authenticator,
): Route[] {
  return [
    route({
      method: 'get',
      path: '/hooks/monitor',
      operationId: 'getMonitorHook',
      summary: 'Whether deliveries of a monitor are taken here',
      authenticator: anyone,
      answers: { 200: { description: 'They are', schema: z.string(), contentType: 'text/plain' } },
      handle: async () => new Response('Deliveries of a monitor are taken here by POST.\n'),
    }),
    route({
      method: 'post',
      path: '/hooks/monitor',
      operationId: 'deliverSignals',
      summary: 'A delivery of a monitor',
      description: 'The companies that it names become tasks of the records that are known of them.',
      authenticator: door,
      body,
      bodyLimit,
      anyContentType: true,
      answers: { 200: { description: 'It is kept', schema: received } },
      async handle({ text }) {
        const isNew = await monitor.receive(text)
        onReceived()
        return Response.json({ received: true, isNew })
      },
    }),
  ]
}
