import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { profileFieldNames } from '../../src/domain/fields.ts'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { missingServers, startPostgres, startRedis, type Server } from '../faults/servers.ts'
import { countTrips } from '../support/count-trips.ts'
import { call, openHttpHouse, type HttpHouse } from '../support/http-house.ts'

// Needs redis-server (or valkey-server) and Postgres.
const missing = missingServers()
if (missing !== undefined) process.stderr.write(`press-trips: left out, ${missing}\n`)

describe.skipIf(missing !== undefined)('a press on Postgres and Redis', () => {
  let redis: Server
  let postgres: Server
  let sandbox: Sandbox
  let house: HttpHouse
  beforeAll(async () => {
    redis = await startRedis()
    postgres = await startPostgres()
    // As long as any service takes: what comes beside the lookup is stored meanwhile.
    sandbox = await startSandbox({ faults: { slowFacilitator: { share: 1, delayMs: 150 } } })
    house = await openHttpHouse(sandbox, {
      // A logo would be a second lookup.
      config: {
        recipes: {
          profile: { company: { fields: profileFieldNames('company'), steps: ['company.profile'] } },
        },
      },
      env: { DATABASE_URL: postgres.url, REDIS_URL: redis.url },
    })
  })
  afterAll(async () => {
    await house?.close()
    await sandbox?.stop()
    for (const server of [postgres, redis]) await server?.stop()
  })

  test('waits for so many round trips, and for no more', async () => {
    const token = await house.token()
    let next = 0
    async function press(): Promise<void> {
      for (;;) {
        next += 1
        const profile = `https://www.profnet.example/company/trips-${next}`
        if (!companyAnswer(profile).data) continue
        const id = house.addCompany({ name: `Acme ${next}`, profnet_url: profile })
        const body = { connector: 'hubspot', object: 'company', ids: [id], recipe: 'profile' }
        const { status } = await call(`${house.url}/v1/enrich?wait=13`, { token, body })
        expect(status).toBe(200)
        return
      }
    }
    // Connections are open then, and terms and properties known.
    for (let before = 0; before < 3; before += 1) await press()
    const trips = countTrips({
      commands: { queued: /:lookup-hot:wait/ },
      requests: { 'sent to the service': /^\/companies\//, 'written in the CRM': /\/batch\/update$/ },
    })
    const counts = []
    for (let round = 0; round < 3; round += 1) counts.push(await trips.of(press))
    trips.stop()
    process.stdout.write(`round trips of a press: ${JSON.stringify(counts[0])}\n`)
    for (const count of counts)
      expect(count).toEqual({
        // Token, task beside the record with its history, the lookup.
        queued: { postgres: 3, redis: 1 },
        // The lookup with its earlier charges; budgets; names, lock, charge with budget; mark.
        'sent to the service': { postgres: 6, redis: 0 },
        // Settlement with answer; names, their commit; tasks, their move; ready, history, intents.
        'written in the CRM': { postgres: 13, redis: 3 },
      })
  })
})
