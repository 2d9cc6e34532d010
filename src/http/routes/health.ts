import { z } from 'zod'
import { anyone } from '../server/caller.ts'
import { route, type Route } from '../server/route.ts'

/** Answers undefined when all is well, else what is not, in words that may be shown. */
export type HealthCheck = () => Promise<string | undefined>

const timeoutMs = 3_000
const alive = z.object({ status: z.literal('ok') })
const readiness = z.object({
  status: z.enum(['ok', 'not ready']),
  checks: z.record(z.string(), z.string()).describe('By name: ok, or what is wrong'),
})

/**
 * `/healthz`: this process answers. `/readyz`: so does everything that it needs; 503 with a line for each.
 */
export function healthRoutes(checks: Record<string, HealthCheck>, isStopping: () => boolean): Route[] {
  return [
    route({
      method: 'get',
      path: '/healthz',
      operationId: 'getHealth',
      summary: 'Whether this process answers',
      authenticator: anyone,
      answers: { 200: { description: 'It does', schema: alive } },
      handle: async () => Response.json({ status: 'ok' }),
    }),
    route({
      method: 'get',
      path: '/readyz',
      operationId: 'getReadiness',
      summary: 'Whether everything answers that this process needs',
      authenticator: anyone,
      answers: {
        200: { description: 'All is well', schema: readiness },
        503: { description: 'Something is not', schema: readiness },
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

/** Asks at most so often: whoever probes us every second must not make us probe others every second. */
export function atMostEvery(ms: number, check: HealthCheck, nowMs: () => number): HealthCheck {
  let askedMs = Number.NEGATIVE_INFINITY
  let answer: Promise<string | undefined> = Promise.resolve(undefined)
  return () => {
    if (nowMs() - askedMs >= ms) {
      askedMs = nowMs()
      answer = check()
      answer.catch(() => {})
    }
    return answer
  }
}

/** A check that hangs must not make the answer hang. */
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
