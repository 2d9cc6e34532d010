import { z } from 'zod'
import { anyone } from '../server/caller.ts'
import { route, type Route } from '../server/route.ts'

/** Resolves to undefined when healthy, else to a public description of what is wrong. */
export type HealthCheck = () => Promise<string | undefined>

const timeoutMs = 3_000
const alive = z.object({ status: z.literal('ok') })
const readiness = z.object({
  status: z.enum(['ok', 'not ready']),
  checks: z.record(z.string(), z.string()).describe('By name: ok, or what is wrong'),
})

/** `/healthz`: this process responds. `/readyz`: everything that it depends on responds too, else 503. */
export function healthRoutes(checks: Record<string, HealthCheck>, isStopping: () => boolean): Route[] {
  return [
    route({
      method: 'get',
      path: '/healthz',
      operationId: 'getHealth',
      summary: 'Liveness: this process responds',
      authenticator: anyone,
      answers: { 200: { description: 'The process responds', schema: alive } },
      handle: async () => Response.json({ status: 'ok' }),
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
        const results = await Promise.all(
          Object.entries(checks).map(
            async ([name, check]) => [name, (await outcome(check)) ?? 'ok'] as const,
          ),
        )
        if (isStopping()) results.push(['process', 'is being stopped'])
        const isReady = results.every(([, state]) => state === 'ok')
        return Response.json(
          { status: isReady ? 'ok' : 'not ready', checks: Object.fromEntries(results) },
          { status: isReady ? 200 : 503 },
        )
      },
    }),
  ]
}

/** Limits how often a check runs, so that frequent probes of ours do not become frequent probes of others. */
export function atMostEvery(ms: number, check: HealthCheck, nowMs: () => number): HealthCheck {
  let checkedMs = Number.NEGATIVE_INFINITY
  let answer: Promise<string | undefined> = Promise.resolve(undefined)
  return () => {
    if (nowMs() - checkedMs >= ms) {
      checkedMs = nowMs()
      answer = check()
      answer.catch(() => {})
    }
    return answer
  }
}

/** Limits the time of a check, so that one that hangs does not delay the response. */
async function outcome(check: HealthCheck): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, `no answer within ${timeoutMs / 1000} s`)
  })
  try {
    return await Promise.race([check(), late])
  } catch {
    return 'does not answer'
  } finally {
    clearTimeout(timer)
  }
}
