import { z } from 'zod'
import { anyone } from '../server/caller.ts'
import { runChecks, type HealthCheck } from '../server/health-checks.ts'
import { route, type Route } from '../server/route.ts'

const alive = z.object({ status: z.literal('ok') })
const hanging = z.object({
  status: z.literal('hanging'),
  hanging: z.array(z.string()).describe('The loops of the process that do not go on'),
})
const readiness = z.object({
  status: z.enum(['ok', 'not ready']),
  checks: z.record(z.string(), z.string()).describe('By name: ok, or what is wrong'),
})

export interface HealthRoutesOptions {
  liveness: () => { isAlive: boolean; hanging: string[] }
  checks: Record<string, HealthCheck>
  isStopping: () => boolean
}

/** `/healthz`: this process goes on. `/readyz`: everything that it depends on responds too, else 503. */
export function healthRoutes({ liveness, checks, isStopping }: HealthRoutesOptions): Route[] {
  return [
    route({
      method: 'get',
      path: '/healthz',
      operationId: 'getHealth',
      summary: 'Liveness: this process responds and its loops go on',
      authenticator: anyone,
      answers: {
        200: { description: 'The process is alive', schema: alive },
        503: { description: 'The process hangs and has to be started again', schema: hanging },
      },
      async handle() {
        const { isAlive, hanging } = liveness()
        if (isAlive) return Response.json({ status: 'ok' })
        return Response.json({ status: 'hanging', hanging }, { status: 503 })
      },
    }),
    route({
      method: 'get',
      path: '/readyz',
      operationId: 'getReadiness',
      summary: 'Readiness: everything that this process depends on responds',
      authenticator: anyone,
      answers: {
        200: { description: 'Ready', schema: readiness },
        503: { description: 'Not ready', schema: readiness },
      },
      async handle() {
        const { status, body } = await runChecks(checks, isStopping())
        return Response.json(body, { status })
      },
    }),
  ]
}
