import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { saveReconciliation } from '../../src/store/chain/reconciliations.ts'
import type { OccurrenceCause, OccurrenceState } from '../../src/store/database/tables/states.ts'
import { ledgerMetrics } from '../../src/store/views/metrics.ts'
import { expressions, groupedBy, metricsIn } from '../support/deploy-files.ts'
import { call, openHttpHouse, type HttpHouse } from '../support/http-house.ts'
import { parsePrometheusText, type Family } from '../support/prometheus-text.ts'

const hour = 3_600_000
const day = 24 * hour

let sandbox: Sandbox
let house: HttpHouse
/** One scrape, after everything below has happened: the ledger is asked every few seconds only. */
let families: Map<string, Family>

beforeAll(async () => {
  sandbox = await startSandbox()
  house = await openHttpHouse(sandbox)
  await addOccurrences()
  await press(3)
  await house.context.spendSwitch.stop('a test')
  await press(1)
  const { db } = house.context.database
  const at = new Date(house.context.now().getTime() + hour)
  await saveReconciliation(db, { at, differenceAtomic: 0n, differences: 3, inDoubtAtomic: 0n }, {})
  families = await vi.waitFor(
    async () => {
      const shown = await scrape()
      const count = 'paydirt_on_demand_duration_seconds_count'
      for (const outcome of ['ended', 'waiting'])
        if (valueOf(shown, count, { outcome }) === undefined) throw new Error(`no request is ${outcome} yet`)
      return shown
    },
    { timeout: 120_000, interval: 250 },
  )
})
afterAll(async () => {
  await house?.close()
  await sandbox?.stop()
})

let pressed = 0

/** Asks for records as a person does, twice: the repeat is the same request. */
async function press(records: number): Promise<void> {
  const ids = []
  while (ids.length < records) {
    const url = `https://www.profnet.example/company/level-${pressed++}`
    if (companyAnswer(url).data) ids.push(house.addCompany({ name: 'Acme', profnet_url: url }))
  }
  const token = await house.token()
  const body = { connector: 'hubspot', object: 'company', ids }
  for (const _ of [1, 2]) {
    const { status } = await call(`${house.url}/v1/enrich?wait=13`, { token, body })
    expect([200, 202]).toContain(status)
  }
}

async function addOccurrences(): Promise<void> {
  const now = house.context.now().getTime()
  const occurrence = (state: OccurrenceState, daysAgo: number, cause: OccurrenceCause = 'cron') => ({
    schedule: 'nightly',
    connector: 'hubspot',
    entity: 'companies',
    job: '{}',
    cause,
    planned_at: new Date(now - daysAgo * day),
    not_before: new Date(now - daysAgo * day),
    state,
    changed_at: new Date(now),
  })
  await house.context.database.db
    .insertInto('schedule_turns')
    .values([
      occurrence('handed_over', 0.5),
      occurrence('missed', 3),
      occurrence('failed', 20, 'catch_up'),
      occurrence('missed', 40),
      occurrence('failed', 0.4, 'run_now'),
    ])
    .execute()
}

async function scrape(): Promise<Map<string, Family>> {
  const { meter } = await house.context.openEngine()
  await meter.save()
  return parsePrometheusText(await (await fetch(`${house.url}/metrics`)).text())
}

function valueOf(shown: Map<string, Family>, name: string, labels: Record<string, string> = {}) {
  const samples = [...shown.values()].flatMap((family) => family.samples)
  const found = samples.filter(
    (sample) =>
      sample.name === name &&
      Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  )
  return found.length === 0 ? undefined : found.reduce((total, { value }) => total + value, 0)
}

describe('what the service levels of docs/slo.md are judged by', () => {
  test('a request of a person is measured once, to the end of its records', () => {
    const labels = { connector: 'hubspot', outcome: 'ended' }
    const name = 'paydirt_on_demand_duration_seconds'
    expect(valueOf(families, `${name}_count`, labels)).toBe(1)
    expect(valueOf(families, `${name}_bucket`, { ...labels, le: '+Inf' })).toBe(1)
    expect(valueOf(families, `${name}_sum`, labels)).toBeGreaterThan(0)
  })

  test('a request whose records are parked has not ended', () => {
    const labels = { connector: 'hubspot', outcome: 'waiting' }
    expect(valueOf(families, 'paydirt_on_demand_duration_seconds_count', labels)).toBe(1)
  })

  test('each record that was written back is counted, and a refusal has a zero to rise from', () => {
    const counted = (outcome: string) =>
      valueOf(families, 'paydirt_records_written_back_total', { connector: 'hubspot', outcome })
    expect([counted('written'), counted('rejected')]).toEqual([3, 0])
    expect(valueOf(families, 'paydirt_spend_usd_total', { connector: 'hubspot', outcome: 'lost' })).toBe(0)
  })

  test('planned times are counted by outcome in each window, without those that a person asked for', () => {
    const counted = (window: string) =>
      ['begun', 'missed', 'failed'].map((outcome) =>
        valueOf(families, 'paydirt_schedule_occurrences', { schedule: 'nightly', window, outcome }),
      )
    expect(counted('1d')).toEqual([1, undefined, undefined])
    expect(counted('7d')).toEqual([1, 1, undefined])
    expect(counted('30d')).toEqual([1, 1, 1])
  })

  test('the age of a reconciliation is that of the last one', async () => {
    expect(valueOf(families, 'paydirt_reconciliation_differences')).toBe(3)
    const { db } = house.context.database
    const later = new Date(house.context.now().getTime() + 4 * hour)
    const [age] = (await ledgerMetrics(db, later)).reconciliationAge
    expect(age!.value / 3_600).toBeCloseTo(3, 1)
  })

  test('every metric that deploy/ and docs name is among what a process shows, with its labels', () => {
    const shown = [...families.values()]
    const labelsOf = new Map(
      shown.flatMap(({ name, samples }) => [
        [name, new Set(samples.flatMap((sample) => Object.keys(sample.labels)))] as const,
        ...samples.map((sample) => [sample.name, new Set(Object.keys(sample.labels))] as const),
      ]),
    )
    // A quiet house has no sample of these; src/http/routes/metrics.ts declares their labels.
    for (const [name, labels] of Object.entries(quiet))
      if ((labelsOf.get(name)?.size ?? 0) === 0 && shown.some((family) => family.name === name))
        labelsOf.set(name, new Set(labels))
    const named = expressions().flatMap((each) => metricsIn(each).map((metric) => ({ ...each, ...metric })))
    expect(named.length).toBeGreaterThan(100)
    const unknown = named
      .filter(({ name }) => !name.includes(':'))
      .filter(({ name, labels }) => {
        const known = labelsOf.get(name)
        return !known || labels.some((label) => !known.has(label))
      })
    expect(unknown.map(({ place, name, labels }) => `${place}: ${name}{${labels.join()}}`)).toEqual([])
    const groupings = expressions().flatMap(({ place, expr }) => {
      const known = metricsIn({ place, expr }).flatMap(({ name }) => [...(labelsOf.get(name) ?? [])])
      return groupedBy(expr)
        .filter((label) => known.length > 0 && !known.includes(label))
        .map((label) => `${place}: by ${label}`)
    })
    expect(groupings).toEqual([])
  })
})

const quiet: Record<string, string[]> = {
  paydirt_alerts: ['condition', 'severity'],
  paydirt_metrics_source_failures_total: ['source'],
  paydirt_http_calls_refused_total: ['reason'],
  paydirt_lookups_due: ['lane'],
  paydirt_lookups_parked: ['code'],
  paydirt_run_age_seconds: ['connector', 'state'],
  paydirt_budget_used_usd: ['window', 'connector'],
  paydirt_budget_cap_usd: ['window', 'connector'],
  paydirt_spend_credits_total: ['connector', 'outcome'],
  paydirt_monitor_deliveries: ['monitor', 'outcome', 'timing'],
}
