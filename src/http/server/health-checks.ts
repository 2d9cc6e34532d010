/** Resolves to undefined when healthy, else to a public description of what is wrong. */
export type HealthCheck = () => Promise<string | undefined>

const timeoutMs = 3_000

/** Runs all checks at once, and returns the answer of a probe for readiness. */
export async function runChecks(
  checks: Record<string, HealthCheck>,
  isStopping: boolean,
): Promise<{ status: 200 | 503; body: { status: 'ok' | 'not ready'; checks: Record<string, string> } }> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, (await outcome(check)) ?? 'ok'] as const),
  )
  if (isStopping) results.push(['process', 'is being stopped'])
  const isReady = results.every(([, state]) => state === 'ok')
  return {
    status: isReady ? 200 : 503,
    body: { status: isReady ? 'ok' : 'not ready', checks: Object.fromEntries(results) },
  }
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
