import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { RunSummary } from '../../src/app/runs/summary.ts'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startHubspotStandIn, type HubspotStandIn } from '../../src/sandbox/hubspot/index.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDatabase } from '../../src/store/database/database.ts'
import { openDesk, type Desk } from '../support/cli.ts'
import { isFullSize, sized } from '../support/full-size.ts'
import { testSeed } from '../support/seed.ts'

const roomy = { searchPerSecond: 100_000, perTenSeconds: 100_000 }
const quick = { hubspot: { tenSecondLimit: 100_000, searchLimit: 100_000 } }

let sandbox: Sandbox
let hubspot: HubspotStandIn
let desk: Desk

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
beforeEach(() => sandbox.faults.reset())
afterEach(async () => {
  await desk.close()
  await hubspot.stop()
})

async function open(
  options: { companies?: number; contacts?: number; connectors?: object } = {},
): Promise<void> {
  const { companies = 60, contacts = 0, connectors = quick } = options
  hubspot = await startHubspotStandIn({ seed: testSeed(), companies, contacts, limits: roomy })
  desk = await openDesk(sandbox, { config: { connectors } })
}

const environment = () => ({ HUBSPOT_BASE_URL: hubspot.baseUrl, HUBSPOT_ACCESS_TOKEN: hubspot.token })
const sync = (...args: string[]) => desk.run(['sync', 'hubspot', ...args], environment())

describe('a sync of HubSpot', () => {
  test('fills blanks, leaves what is filled, and the next one finds its own writes and pays nothing', async () => {
    await open()
    const before = new Map(
      [...hubspot.store.list('companies')].map(({ id, properties }) => [id, { ...properties }]),
    )

    const plan = (await sync('--object', 'company', '--plan', '--json')).json<{
      lookups: { toBuy: number }
    }>()
    expect(await desk.transfers()).toEqual([])

    const first = await sync('--object', 'company', '--json')
    expect(first).toMatchObject({ status: 0 })
    const summary = first.json<RunSummary>()
    expect(summary).toMatchObject({ connector: 'hubspot', records: 60 })
    expect(summary).toMatchObject({ lookups: { paid: plan.lookups.toBuy } })
    expect(await desk.transfers()).toHaveLength(plan.lookups.toBuy)
    expect(summary.tasks.written).toBeGreaterThan(10)

    let filled = 0
    for (const [id, old] of before) {
      const now = hubspot.store.get('companies', id)?.properties ?? {}
      for (const [name, value] of Object.entries(old)) {
        if (value !== '' && !name.startsWith('paydirt_') && !/modified|date/.test(name))
          expect([id, name, now[name]]).toEqual([id, name, value])
      }
      const url = old['profnet_url'] ?? ''
      const isProfile = /^https:\/\/www\.[a-z.]+\/company\/[a-z0-9-]+$/.test(url)
      const answer = isProfile ? companyAnswer(url).data : null
      if (!answer?.industry || old['industry']) continue
      expect(now['paydirt_source']).toBeTruthy()
      filled += 1
    }
    expect(filled).toBeGreaterThan(5)

    const stamps = () =>
      [...hubspot.store.list('companies')].map(({ id, modifiedAtMs }) => [id, modifiedAtMs])
    const afterFirst = stamps()
    const second = await sync('--object', 'company', '--json')
    expect(second.status).toBe(0)
    expect(second.json<RunSummary>()).toMatchObject({
      lookups: { paid: 0 },
      tasks: { written: 0 },
      spend: { settled: '0.000000' },
    })
    expect(stamps()).toEqual(afterFirst)
    expect(await desk.transfers()).toHaveLength(plan.lookups.toBuy)
  }, 180_000)

  // HubSpot's search ends at 10,000 results; in the short form only hubspot-scan.test.ts goes beyond them.
  const [all, ofOneStamp] = [sized(25_000, 3_000), sized(12_000, 1_200)]
  const killedAtPages = isFullSize ? [10, 45, 90] : [3, 10]

  test(`of ${all} contacts, ${ofOneStamp} of them with one stamp, killed ${killedAtPages.length} times: each is a task exactly once`, async () => {
    // Nothing identifies them here, so that nothing is bought: this is about the scan and its watermark.
    const mapping = {
      contacts: { identity: { profileUrl: [], email: [], phone: [], firstName: [], lastName: [] } },
    }
    await open({ companies: 0, connectors: { hubspot: { ...quick.hubspot, mapping } } })
    const stamp = Date.UTC(2026, 5, 1)
    hubspot.store.seed('contacts', { count: ofOneStamp, modifiedAtMs: stamp })
    hubspot.store.seed('contacts', { count: all - ofOneStamp })
    const args = ['sync', 'hubspot', '--object', 'contacts', '--since', '2026-01-01', '--json']

    for (const pages of killedAtPages) {
      const requests = () =>
        Object.entries(hubspot.stats().byPath)
          .filter(([path]) => path.includes('search'))
          .reduce((sum, [, count]) => sum + count, 0)
      const killed = await desk.start(args, environment()).killWhen('SIGKILL', () => requests() >= pages)
      expect(killed.signal).toBe('SIGKILL')
    }
    const last = await desk.run(args, environment())
    expect(last).toMatchObject({ status: 0 })
    expect(last.stderr).toContain('continuing run')
    expect(last.json<RunSummary>()).toMatchObject({ records: all, lookups: { paid: 0 } })

    const database = await openDatabase({
      dataDir: `${desk.stores.dataDir}/data`,
      ...(desk.stores.databaseUrl ? { url: desk.stores.databaseUrl } : {}),
    })
    const rows = await database.db.selectFrom('tasks').select('record_id').execute()
    await database.close()
    expect(rows).toHaveLength(all)
    expect(new Set(rows.map((row) => row.record_id))).toEqual(
      new Set([...hubspot.store.list('contacts')].map(({ id }) => id)),
    )
  }, 180_000)

  test('says what is wrong with the account, and loses no record', async () => {
    await open({ companies: 30 })
    hubspot.auth.revokeAccessToken()
    const refused = await sync('--object', 'company', '--json')
    expect(refused).toMatchObject({ status: 2, stdout: '' })
    expect(refused.stderr).toMatch(/hubspot.*token/i)
    const doctor = (await desk.run(['doctor', '--json'], environment())).json<{
      ok: boolean
      findings: { name: string; status: string; todo?: string }[]
    }>()
    expect(doctor.ok).toBe(false)
    const finding = doctor.findings.find(({ name, status }) => name === 'hubspot' && status === 'problem')
    expect(finding?.todo).toBeTruthy()
  })

  test('parks when the day is spent, says until when, and goes on later with the same run', async () => {
    await open({ companies: 30 })
    sandbox.faults.set({ latency: { minMs: 100, maxMs: 200 } })
    const before = sandbox.stats().settled
    const running = desk.start(['sync', 'hubspot', '--object', 'company', '--json'], environment())
    while (sandbox.stats().settled === before) await new Promise((resolve) => setTimeout(resolve, 5))
    hubspot.faults.limit('DAILY')
    const parked = await running.ended
    expect(parked).toMatchObject({ status: 3 })
    expect(parked.stderr).toMatch(/calls of the day are used up; run it again after/)

    // Tomorrow: the CRM counts anew, and so does the budget that all processes share in Redis.
    hubspot.faults.clear()
    const tomorrow = { ...environment(), PAYDIRT_REDIS_PREFIX: `${desk.stores.redisPrefix}_tomorrow` }
    const last = await desk.run(['sync', 'hubspot', '--object', 'company', '--json'], tomorrow)
    expect(last.status).toBe(0)
    expect(last.json<RunSummary>()).toMatchObject({ records: 30, tasks: { parked: 0 } })
    const keys = (await desk.transfers()).length
    expect(keys).toBe(last.json<RunSummary>().lookups.unique)
  }, 180_000)

  test('refuses a mapping to a property that is not there, and names those that are near', async () => {
    await open({
      companies: 5,
      connectors: {
        hubspot: { ...quick.hubspot, mapping: { companies: { fields: { industry: 'industri' } } } },
      },
    })
    const ended = await sync('--object', 'company', '--json')
    expect(ended).toMatchObject({ status: 2, stdout: '' })
    expect(ended.stderr).toMatch(/industri.*industry/s)
  })
})
