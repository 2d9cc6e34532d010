import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { runFigures } from '../../src/store/views/run-figures.ts'
import { startWebServer, type Web } from '../../src/app/web/web.ts'
import { metered } from '../../src/connectors/metered.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { lintMetrics, parsePrometheusText, type Family } from '../support/prometheus-text.ts'
import { openCrmHouse, type CrmHouse } from '../integration/crm-house.ts'

const token = 'a-token-for-scrapers'
/** Debian's package `prometheus` has it. */
const hasPromtool = spawnSync('promtool', ['--version']).status === 0
if (!hasPromtool) console.warn('SKIPPED: promtool did not judge the metrics, because it is not installed')
const urlOf = (name: string) => `https://www.profnet.com/company/${name}`

let sandbox: Sandbox
let house: CrmHouse
let web: Web

beforeAll(async () => {
  sandbox = await startSandbox()
  house = await openCrmHouse(sandbox, {
    env: { PAYDIRT_PORT: '0', PAYDIRT_METRICS_TOKEN: token },
    // As the file is read: amounts in USD become the ledger's own.
    config: {
      budgets: { monthUsd: '500', connectorDayUsd: { hubspot: '20' } },
    } as object,
  })
  for (let index = 0; index < 12; index += 1)
    house.add('companies', { name: `m${index}`, profnet_url: urlOf(`m${index}`) })
  await syncMeasured()
  web = await startWebServer(house.context)
})
afterAll(async () => {
  await web?.stop(1_000)
  await house?.close()
  await sandbox?.stop()
})

/** Syncs through a connector that is measured as those of the processes are, and stores what was measured. */
async function syncMeasured(): Promise<void> {
  const { meter } = await house.context.openEngine()
  await house.sync('companies', (connector) => metered(connector, meter))
  await meter.save()
}

async function scrape(): Promise<{ text: string; families: Map<string, Family> }> {
  const response = await fetch(`${web.url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  const text = await response.text()
  return { text, families: parsePrometheusText(text) }
}

const sum = (family: Family | undefined, labels: Record<string, string> = {}) =>
  family?.samples
    .filter((sample) => Object.entries(labels).every(([name, value]) => sample.labels[name] === value))
    .reduce((total, { value }) => total + value, 0)

describe('/metrics', () => {
  test('is well-formed, and named as promtool wants it', async () => {
    const { families } = await scrape()
    expect(lintMetrics(families.values())).toEqual([])
    expect(families.get('process_cpu_seconds_total')?.type).toBe('counter')
    expect(families.size).toBeGreaterThan(40)
  })

  test.skipIf(!hasPromtool)('is what promtool takes without a remark', async () => {
    const { text } = await scrape()
    const judged = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })
    expect(`${judged.stdout}${judged.stderr}`).toBe('')
    expect(judged.status).toBe(0)
  })

  test('has durations of lookups, of calls to the CRM, and of pages of the desk', async () => {
    await fetch(web.url, { headers: { accept: 'text/html' } })
    await fetch(`${web.url}/runs/one`, { headers: { accept: 'text/html' } })
    await fetch(`${web.url}/jane/doe`, { headers: { accept: 'text/html' } })
    const { families } = await scrape()
    const figures = await house.context.runs
      .list(1)
      .then(([run]) => runFigures(house.context.database.db, run!.id))
    const counted = (name: string, labels: Record<string, string>) =>
      families
        .get(name)
        ?.samples.filter(
          (sample) =>
            sample.name === `${name}_count` &&
            Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
        )
        .reduce((total, { value }) => total + value, 0)
    const lookups = 'paydirt_lookup_duration_seconds'
    const profile = { operation: 'company.profile' }
    const answered =
      counted(lookups, { ...profile, outcome: 'found' })! +
      counted(lookups, { ...profile, outcome: 'not_found' })!
    expect(answered).toBe(figures.lookups.paid)
    expect(counted(lookups, profile)).toBe(figures.requests.sent)
    for (const call of ['scan', 'read', 'write'])
      expect(counted('paydirt_crm_call_duration_seconds', { connector: 'hubspot', call })).toBeGreaterThan(0)
    const http = 'paydirt_http_request_duration_seconds'
    expect([counted(http, { route: '/' }), counted(http, { route: '/runs/{id}' })]).toEqual([1, 1])
    expect(counted(http, { route: 'other' })).toBe(1)
  })

  test('tells what the ledger tells', async () => {
    const { families } = await scrape()
    const figures = await house.context.runs
      .list(1)
      .then(([run]) => runFigures(house.context.database.db, run!.id))
    const settled = Number(figures.spend.settledAtomic) / 1_000_000
    expect(settled).toBeGreaterThan(0)
    expect(sum(families.get('paydirt_spend_usd_total'), { connector: 'hubspot' })).toBeCloseTo(settled, 9)
    expect(sum(families.get('paydirt_budget_used_usd'), { window: 'day' })).toBeCloseTo(settled, 9)
    expect(
      sum(families.get('paydirt_budget_used_usd'), { window: 'connector_day', connector: 'hubspot' }),
    ).toBeCloseTo(settled, 9)
    expect(
      sum(families.get('paydirt_budget_cap_usd'), { window: 'connector_day', connector: 'hubspot' }),
    ).toBe(20)
    expect(sum(families.get('paydirt_tasks'))).toBe(12)
    expect(sum(families.get('paydirt_runs'), { state: 'finished' })).toBe(1)
    expect(sum(families.get('paydirt_service_requests_total'))).toBe(figures.requests.sent)
    expect(sum(families.get('paydirt_wallet_balance_usd'))).toBeCloseTo(20 - settled, 6)
    expect(sum(families.get('paydirt_pacer_limit_requests_per_second'), { path: 'lookup' })).toBeGreaterThan(
      0,
    )
    expect(families.get('paydirt_queue_jobs')?.samples.length).toBeGreaterThanOrEqual(20)
    expect(sum(families.get('paydirt_spending_stopped'))).toBe(0)
  })

  test('counts requests by the pattern of their route, never by what was called', async () => {
    for (const path of ['/healthz', '/v1/runs/one', '/v1/runs/another', '/jane@acme.test'])
      await fetch(web.url + path)
    const { text, families } = await scrape()
    const requests = families.get('paydirt_http_requests_total')
    expect(sum(requests, { route: '/healthz', status: '200' })).toBe(1)
    expect(sum(requests, { route: '/v1/runs/{id}' })).toBe(2)
    expect(
      sum(families.get('paydirt_http_request_duration_seconds'), { route: '/healthz', le: '+Inf' }),
    ).toBe(1)
    expect(text).not.toMatch(/jane|another|m0\b|r[0-9a-z]{14}/)
  })

  test('has as many series after more records as before', async () => {
    const before = (await scrape()).families
    for (let index = 0; index < 20; index += 1)
      house.add('companies', { name: `n${index}`, profnet_url: urlOf(`n${index}`) })
    await syncMeasured()
    const after = await vi.waitFor(
      async () => {
        const { families } = await scrape()
        // The ledger is asked every few seconds. The second sync sees some of the first's records again.
        expect(sum(families.get('paydirt_tasks'))).toBeGreaterThanOrEqual(32)
        return families
      },
      { timeout: 20_000, interval: 200 },
    )
    const series = (families: Map<string, Family>) =>
      [...families.values()]
        .filter(({ name }) => !/http|nodejs/.test(name))
        .reduce((count, { samples }) => count + samples.length, 0)
    expect(series(after)).toBeLessThanOrEqual(series(before) + 6)
  })

  test('is for who brings the token', async () => {
    const without = await fetch(`${web.url}/metrics`)
    const wrong = await fetch(`${web.url}/metrics`, { headers: { authorization: `Bearer ${token}x` } })
    expect([without.status, wrong.status]).toEqual([401, 401])
    await vi.waitFor(
      async () => {
        const { families } = await scrape()
        expect(sum(families.get('paydirt_http_calls_refused_total'), { reason: 'metrics_token' })).toBe(2)
      },
      { timeout: 20_000, interval: 200 },
    )
  })
})

describe('the parser that holds them', () => {
  test.each([
    ['a 1', /not ended/],
    ['# TYPE a counter\na{b="1} 1\n', /bad labels/],
    ['# TYPE a counter\na 1\na 2\n', /twice/],
    ['# TYPE a counter\na one\n', /no number/],
    ['# TYPE a counter\nb 1\n', /outside its family/],
    ['# TYPE a counter\na 1\n# TYPE b gauge\nb 1\n# TYPE a counter\n', /two pieces/],
    ['# TYPE h histogram\nh_bucket{le="1"} 1\nh_sum 1\nh_count 1\n', /\+Inf/],
    ['# TYPE h histogram\nh_bucket{le="1"} 2\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n', /rise/],
  ])('refuses %j', (text, problem) => expect(() => parsePrometheusText(text)).toThrow(problem))

  test('finds names that promtool finds', () => {
    const text = '# HELP a_ms A.\n# TYPE a_ms counter\na_ms 1\n# TYPE things_total gauge\nthings_total 1\n'
    expect(lintMetrics(parsePrometheusText(text).values())).toEqual([
      'a_ms: counters end in _total',
      'a_ms: abbreviated unit',
      'things_total: no help text',
      'things_total: only counters end in _total',
    ])
  })
})
