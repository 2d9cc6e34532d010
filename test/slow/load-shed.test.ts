import { expect, test, vi } from 'vitest'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { pause } from '../../src/timing/pause.ts'
import { call, openHttpHouse } from '../support/http-house.ts'

/** Holds the embedded ledger's one connection again and again, so that every statement of others waits about as long. */
function slowDown(db: Awaited<ReturnType<typeof openHttpHouse>>['context']['database']['db'], ms: number) {
  const stop = new AbortController()
  async function loop(): Promise<void> {
    while (!stop.signal.aborted) {
      await db.transaction().execute(() => pause(ms, stop.signal))
      await pause(1, stop.signal)
    }
  }
  const ended = loop()
  return async () => {
    stop.abort()
    await ended
  }
}

test('while the stores are slow presses go on, and programs are told when to come back', async () => {
  const sandbox = await startSandbox()
  const house = await openHttpHouse(sandbox, {
    env: { DATABASE_URL: '', PAYDIRT_METRICS_TOKEN: 'metrics-token-of-a-test-0123456789' },
    config: { http: { shed: { databaseMs: 100, redisMs: 0, pressWaitSeconds: 0, holdSeconds: 1 } } },
  })
  try {
    const token = await house.token()
    const { db } = house.context.database
    let next = 0
    function aCompany(): string {
      for (;;) {
        next += 1
        const url = `https://www.profnet.example/company/shed-${next}`
        if (companyAnswer(url).data) return house.addCompany({ name: `Acme ${next}`, profnet_url: url })
      }
    }
    const enrich = (query = '') =>
      call<Record<string, unknown>>(`${house.url}/v1/enrich${query}`, {
        token,
        body: { connector: 'hubspot', object: 'company', ids: [aCompany()] },
      })
    const rows = async () => (await db.selectFrom('tasks').select('id').execute()).length

    const fast = slowDown(db, 150)
    await vi.waitFor(async () => expect((await enrich()).status).toBe(503), {
      timeout: 60_000,
      interval: 200,
    })
    const before = await rows()
    const refused = await enrich()
    expect(refused.status).toBe(503)
    expect(refused.headers.get('content-type')).toBe('application/problem+json')
    expect(refused.headers.get('retry-after')).toBe('6')
    expect(refused.body).toMatchObject({ code: 'overloaded', status: 503 })
    expect(refused.body['detail']).toContain('nothing was stored or bought')
    expect(await rows()).toBe(before)
    expect([200, 202]).toContain((await enrich('?wait=1')).status)
    expect(await rows()).toBe(before + 1)
    await fast()

    await vi.waitFor(async () => expect((await enrich()).status).toBe(202), {
      timeout: 60_000,
      interval: 500,
    })
    const metrics = await fetch(`${house.url}/metrics`, {
      headers: { authorization: 'Bearer metrics-token-of-a-test-0123456789' },
    })
    expect(await metrics.text()).toMatch(/paydirt_http_requests_shed_total\{reason="database"\} [1-9]/)
  } finally {
    await house.close()
    await sandbox.stop()
  }
})
