import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startHubspotStandIn, type HubspotStandIn } from '../../src/sandbox/hubspot/index.ts'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk, type Desk } from '../support/cli.ts'
import { testSeed } from '../support/seed.ts'

interface Document {
  runId: string
  records: number
  tasks: Record<string, number>
  spend: { settled: string }
  lookups: { paid: number }
  results: { id: string; recordId: string; status: string; reason: string | null; costUsd: string }[]
}

const quick = { hubspot: { tenSecondLimit: 100_000, searchLimit: 100_000 } }
const profile = 'https://www.profnet.example/company/enriched-by-hand'

let sandbox: Sandbox
let hubspot: HubspotStandIn
let desk: Desk

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox?.stop())
beforeEach(async () => {
  const limits = { searchPerSecond: 100_000, perTenSeconds: 100_000 }
  hubspot = await startHubspotStandIn({ seed: testSeed(), companies: 0, contacts: 0, limits })
  desk = await openDesk(sandbox, { config: { connectors: quick } })
})
afterEach(async () => {
  await desk.close()
  await hubspot.stop()
})

const run = (...args: string[]) =>
  desk.run(args, { HUBSPOT_BASE_URL: hubspot.baseUrl, HUBSPOT_ACCESS_TOKEN: hubspot.token })

describe('paydirt enrich', () => {
  test('enriches records by their ids to the end, and the same within a minute is the same task', async () => {
    expect(companyAnswer(profile).data).toBeTruthy()
    const { id } = hubspot.store.add('companies', { properties: { name: 'Acme', profnet_url: profile } })
    const first = await run('enrich', 'hubspot', 'company', id, '404404404', '--json')
    expect(first).toMatchObject({ status: 0 })
    const document = first.json<Document>()
    expect(document).toMatchObject({
      records: 2,
      lookups: { paid: 1 },
      tasks: { written: 1, skipped: 1 },
      spend: { settled: '0.010000' },
      results: [
        { recordId: id, status: 'written', costUsd: '0.010000' },
        { recordId: '404404404', status: 'skipped', reason: 'the record is gone' },
      ],
    })
    const again = (await run('enrich', 'hubspot', 'companies', id, '--json')).json<Document>()
    expect(again.results[0]?.id).toBe(document.results[0]?.id)
    expect(await desk.transfers()).toHaveLength(1)
    expect(hubspot.store.get('companies', id)?.properties['domain']).toBeTruthy()
  })

  test('goes on with what was broken off', async () => {
    const { id } = hubspot.store.add('companies', { properties: { name: 'Acme', profnet_url: profile } })
    sandbox.faults.set({ latency: { minMs: 3_000, maxMs: 3_000 } })
    const before = sandbox.stats().requests
    const running = desk.start(['enrich', 'hubspot', 'company', id, '--json'], {
      HUBSPOT_BASE_URL: hubspot.baseUrl,
      HUBSPOT_ACCESS_TOKEN: hubspot.token,
    })
    const killed = await running.killWhen('SIGKILL', () => sandbox.stats().requests > before)
    expect(killed.signal).toBe('SIGKILL')
    sandbox.faults.reset()
    const ended = await run('enrich', 'hubspot', 'company', id, '--json')
    expect(ended).toMatchObject({ status: 0 })
    expect(ended.json<Document>()).toMatchObject({ results: [{ status: 'written' }] })
    expect(await desk.transfers()).toHaveLength(1)
  })

  test.each([
    [['pipedrive', 'company', '1'], /hubspot/],
    [['hubspot', 'deal', '1'], /no deal.*companies/],
    [['hubspot', 'company', '1', '--recipe', 'nonesuch'], /no recipe "nonesuch"/],
    [['salesforce', 'Lead', '1'], /SALESFORCE_LOGIN_URL/],
  ])('%j is wrong use', async (args, message) => {
    const ended = await run('enrich', ...args)
    expect(ended.status).toBe(2)
    expect(ended.stderr).toMatch(message)
  })
})

describe('paydirt token', () => {
  test('shows a token once, keeps no trace of it, and revokes it', async () => {
    const made = await run('token', 'create', 'the crm', '--scope', 'read', '--day-usd', '0.50', '--json')
    expect(made).toMatchObject({ status: 0 })
    const { id, token } = made.json<{ id: string; token: string }>()
    expect(token).toMatch(/^pd_[\w-]{43}$/)
    const listed = await run('token', 'list', '--json')
    expect(listed.stdout).not.toContain(token)
    expect(JSON.parse(listed.stdout)).toMatchObject([
      { id, name: 'the crm', scopes: ['read'], dayCapUsd: '0.500000', revokedAt: null },
    ])
    expect((await run('token', 'revoke', id)).status).toBe(0)
    expect(await run('token', 'revoke', id)).toMatchObject({ status: 2 })
    expect((await run('token', 'list')).stdout).toMatch(/revoked/)
    expect((await run('token', 'create', 'x', '--scope', 'root')).status).toBe(2)
  })
})
