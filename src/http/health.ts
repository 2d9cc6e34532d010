import { Hono } from 'hono'

/** Answers undefined when all is well, else what is not, in words that may be shown. */
export type HealthCheck = () => Promise<string | undefined>

/**
 * `/healthz`: this process answers. `/readyz`: so does everything that it needs; 503 with the names of what does not.
 */
export function healthRoutes(checks: Record<string, HealthCheck>): Hono {
  const app = new Hono()
  app.get('/healthz', (context) => context.json({ status: 'ok' }))
  app.get('/readyz', async (context) => {
    const results = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => [name, (await outcome(check)) ?? 'ok'] as const),
    )
    const isReady = results.every(([, state]) => state === 'ok')
    return context.json(
      { status: isReady ? 'ok' : 'not ready', checks: Object.fromEntries(results) },
      isReady ? 200 : 503,
    )
  })
  return app
}

/** A check that hangs must not make the answer hang. */
async function outcome(check: HealthCheck): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, 3_000, 'no answer within 3 s')
  })
  try {
    return await Promise.race([check(), late])
  } catch {
    return 'does not answer'
  } finally {
    clearTimeout(timer)
  }
}
