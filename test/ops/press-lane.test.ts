import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { profileFieldNames } from '../../src/domain/fields.ts'
import type { AcquirePermit } from '../../src/domain/ports/send-permit.ts'
import { start, type Running } from '../../src/app/start.ts'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { missingServers, startPostgres, startRedis, type Server } from '../faults/servers.ts'
import { freePort } from '../support/free-port.ts'
import { openHouse, type House } from '../support/house.ts'
import { call, openHttpHouse, type HttpHouse } from '../support/http-house.ts'

// Needs redis-server (or valkey-server) and Postgres.
const missing = missingServers()
if (missing !== undefined) process.stderr.write(`press-lane: left out, ${missing}\n`)

const config = {
  recipes: {
    profile: { company: { fields: profileFieldNames('company'), steps: ['company.profile' as const] } },
  },
}

describe.skipIf(missing !== undefined)('presses beside a worker', () => {
  let redis: Server
  let postgres: Server
  let sandbox: Sandbox
  beforeAll(async () => {
    redis = await startRedis()
    postgres = await startPostgres()
    sandbox = await startSandbox()
  })
  afterAll(async () => {
    await sandbox?.stop()
    for (const server of [postgres, redis]) await server?.stop()
  })

  /** Has each process note the permits that it asks for presses. */
  const noted = (name: string, by: string[]) => ({
    acquirePermit:
      (acquire: AcquirePermit): AcquirePermit =>
      (lane, operation) => {
        if (lane === 'hot') by.push(name)
        return acquire(lane, operation)
      },
  })

  let next = 0
  async function press(house: HttpHouse, token: string): Promise<void> {
    for (;;) {
      next += 1
      const profile = `https://www.profnet.example/company/lane-${next}`
      if (!companyAnswer(profile).data) continue
      const id = house.addCompany({ name: `Acme ${next}`, profnet_url: profile })
      const body = { connector: 'hubspot', object: 'company', ids: [id], recipe: 'profile' }
      const { status } = await call(`${house.url}/v1/enrich?wait=13`, { token, body })
      expect(status).toBe(200)
      expect(house.company(id)).toMatchObject({ paydirt_status: 'enriched' })
      return
    }
  }

  test('are looked up by the web role where it reaches the service, and by the worker where not', async () => {
    const by: string[] = []
    const stores = { DATABASE_URL: postgres.url, REDIS_URL: redis.url, PAYDIRT_REDIS_PREFIX: 'lane' }
    const web = await openHttpHouse(sandbox, {
      config,
      env: stores,
      overrides: noted('web', by),
      role: 'web',
    })
    const shared = Object.fromEntries(
      ['HUBSPOT_BASE_URL', 'HUBSPOT_ACCESS_TOKEN', 'PAYDIRT_WALLET_KEY'].map((name) => [
        name,
        (web.variables as Record<string, string | undefined>)[name] ?? '',
      ]),
    )
    const env = { ...stores, ...shared }
    let beside: House | undefined
    let worker: Running | undefined
    let cutOff: HttpHouse | undefined
    try {
      beside = await openHouse(sandbox, { config: web.settings, env, overrides: noted('worker', by) })
      worker = await start(beside.context, 'worker')
      const { pressSignals } = await beside.context.openEngine()
      await vi.waitUntil(() => pressSignals.isClaimed(), { timeout: 30_000 })
      const token = await web.token()
      // The worker leaves the lane with its next look at the claim.
      for (by.length = 0; by.at(-1) !== 'web' || by.at(-2) !== 'web';) await press(web, token)
      by.length = 0
      for (let more = 0; more < 5; more += 1) await press(web, token)
      expect(by).toEqual(Array(5).fill('web'))

      await web.stop()
      expect(await pressSignals.isClaimed()).toBe(false)
      cutOff = await openHttpHouse(sandbox, {
        config,
        env: { ...env, PAYDIRT_SERVICE_URL: `http://127.0.0.1:${await freePort()}` },
        overrides: noted('cut off', by),
        role: 'web',
      })
      by.length = 0
      // Its records are those of its own CRM, which the worker does not know.
      const { hubspot } = web
      await press({ ...web, url: cutOff.url, hubspot }, token)
      expect(by).toEqual(['worker'])
    } finally {
      await worker?.stop()
      await cutOff?.close()
      await beside?.close()
      await web.close()
    }
  }, 120_000)
})
