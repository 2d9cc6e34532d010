// One file because each test is one sequence of deliveries through one receiver, counted at its end.
import { beforeEach, expect, test } from 'vitest'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import {
  createMonitorDeliveries,
  type MonitorDeliveries,
} from '../../src/store/messages/monitor-deliveries.ts'
import { whoseMonitor } from '../../src/domain/monitors/whose-monitor.ts'
import {
  dropMonitor,
  formerMonitors,
  keepMonitor,
  knownMonitors,
} from '../../src/store/monitors/declared-monitors.ts'
import { eraseSeen } from '../../src/store/messages/erase-seen.ts'
import { indexKnownTasks } from '../../src/store/identities/fill-from-tasks.ts'
import { createRecordIndex, type RecordIndexLedger } from '../../src/store/identities/record-index.ts'
import { createMonitor } from '../../src/producers/monitor.ts'
import { builtInRecipes } from '../../src/domain/planning/recipes.ts'
import { defaultNetworkHosts as hosts } from '../../src/domain/keys.ts'
import { sized } from '../support/full-size.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import { openLedgerRun } from '../support/ledger-run.ts'
import { scannedTask } from '../support/scanned-task.ts'
import { poisons } from '../integration/poison-records.fixture.ts'

const now = () => new Date('2026-11-20T12:00:00Z')
/** More than there is room for in one statement, at seven parameters a row. */
const many = 12_000

let database: OpenDatabase
let deliveries: MonitorDeliveries
let index: RecordIndexLedger

beforeEach(async () => {
  const ledger = await openFreshLedger()
  database = ledger.database
  deliveries = createMonitorDeliveries(database.db, { now })
  index = createRecordIndex(database.db, { now, hosts, suppressed: async () => new Set() })
  return () => ledger.close()
})

async function seen(records: { id: string; domain?: string; profile?: string }[], connector = 'hubspot') {
  await index.keep(
    connector,
    'companies',
    records.map(({ id, domain, profile }) => ({
      id,
      object: 'company',
      identity: { ...(domain && { domain }), ...(profile && { profileUrl: profile }) },
    })),
  )
}

/** Receives one delivery, and returns the ids of the records that were asked for and how many companies were unknown. */
async function delivered(companies: readonly object[]) {
  const requested: string[][] = []
  const errors: unknown[] = []
  const monitor = createMonitor({
    deliveries,
    index,
    onDemand: { request: async ({ ids }) => (requested.push([...ids]), []) },
    connectors: ['hubspot'],
    recipes: builtInRecipes,
    recipe: 'profile',
    networkName: 'profnet',
    now,
    onError: (error) => errors.push(error),
  })
  expect(await monitor.receive(JSON.stringify({ companies }))).toBe(true)
  expect(await monitor.work()).toBe(1)
  expect(errors).toEqual([])
  const rows = await database.db
    .selectFrom('monitor_deliveries')
    .select(['records', 'unknown', 'reason', 'body'])
    .execute()
  expect(rows).toMatchObject([{ reason: null, body: null }])
  return { requested, records: rows[0]?.records, unknown: rows[0]?.unknown }
}

test('records are found by profile, or by domain however it was written', async () => {
  await seen([
    { id: '1', domain: 'https://www.Acme.example/about?x=1' },
    { id: '2', domain: 'notacme.example' },
    { id: '3', profile: 'profnet.example/company/globex' },
    { id: '4', domain: 'shop.globex.example:8443', profile: 'profnet.example/company/globex-other' },
    { id: '5', domain: 'gmail.com' },
  ])
  await seen([{ id: '9', domain: 'acme.example' }], 'csv')
  const found = await delivered([
    { domain: 'acme.example' },
    { profnet_url: 'https://www.profnet.com/company/globex', domain: 'globex.example' },
    { domain: 'nobody.example' },
    { profnet_url: 'https://elsewhere.example/company/globex' },
    { domain: 'gmail.com' },
  ])
  expect(found).toEqual({ requested: [['1', '3', '4']], records: 3, unknown: 3 })
})

test(`a delivery that names ${many} companies is looked up and written down`, async () => {
  const names = Array.from({ length: many }, (_, at) => `company-${at}.example`)
  await seen(names.slice(0, 3_000).map((name, at) => ({ id: String(at), domain: `www.${name}` })))
  const { records, unknown } = await delivered(names.map((domain) => ({ domain })))
  expect({ records, unknown }).toEqual({ records: 3_000, unknown: 9_000 })
  // A process died before another delivery was ended: the next one does it again.
  for (let time = 0; time < 2; time += 1) await deliveries.addUnknown('m1', names, 'profile', 'not seen yet')
  const rows = await database.db
    .selectFrom('tasks')
    .select(['ordinal', 'record_id', 'status', 'reason'])
    .where('run_id', '=', 'm1')
    .orderBy('ordinal')
    .execute()
  expect(rows.map(({ record_id: name }) => name)).toEqual(names)
  expect(rows.at(-1)).toMatchObject({ ordinal: many, status: 'skipped', reason: 'not seen yet' })
})

test('a delivery in which every other company is poison makes tasks of the others', async () => {
  await seen([
    { id: '1', domain: 'acme.example' },
    { id: '2', profile: 'profnet.com/company/globex' },
  ])
  const bad = poisons.map(({ profileUrl, domain, company }) => ({
    company_profile_url: profileUrl?.replace('/in/', '/company/'),
    domain,
    name: company,
  }))
  const found = await delivered([
    { domain: 'acme.example' },
    ...bad,
    { company_profile_url: 'https://www.profnet.com/company/globex' },
  ])
  expect(found).toMatchObject({ requested: [['1', '2']], records: 2 })
})

test('the records of earlier runs are known from the first start on', async () => {
  const { run, tasks } = await openLedgerRun(database, { lookups: 0, now, connector: 'hubspot' })
  await tasks.insertPage(
    run.id,
    [scannedTask(1, null, { status: 'skipped', identity: { domain: 'www.acme.example' } })],
    'mark',
  )
  const options = { connectors: ['hubspot'], hosts, now }
  expect(await indexKnownTasks(database.db, options)).toBe(1)
  expect(await indexKnownTasks(database.db, options)).toBe(0)
  expect(await delivered([{ domain: 'acme.example' }])).toMatchObject({ requested: [['1']] })
})

test('pairs of company and signal are worked once, in any order, with deliveries taken over by another process', async () => {
  const sent = sized(12, 2_000)
  const asked: string[][] = []
  const taken: string[] = []
  let deaths = 0
  const monitor = createMonitor({
    deliveries: {
      ...deliveries,
      // Every third delivery dies between its decision and its work.
      admit: async (digest, given) => {
        const fresh = await deliveries.admit(digest, given)
        if (digest < '5' && !dead.has(digest)) {
          dead.add(digest)
          deaths += 1
          throw new Error('died')
        }
        return fresh
      },
      postpone: async (digest) => deliveries.postpone(digest, now(), 'again'),
    },
    index,
    onDemand: { request: async ({ ids }) => (asked.push([...ids]), []) },
    whose: async ({ name }) => ({ is: 'ours', name: name! }),
    takeMatch: async (name, signals) => {
      taken.push(...signals.map(({ company, title }) => `${company.domain} ${title}`))
      return name === 'declared'
    },
    connectors: ['hubspot'],
    recipes: builtInRecipes,
    recipe: 'profile',
    networkName: 'profnet',
    now,
    onError: () => {},
  })
  const dead = new Set<string>()
  const signals = Array.from({ length: sent }, (_, at) => ({
    id: at,
    domain: `company-${at % 5}.example`,
    title: `t${at}`,
  }))
  // A fixed shuffle: 7919 is a prime above both sizes.
  const order = Array.from({ length: sent * 3 }, (_, at) => (at * 7_919) % (sent * 3))
  for (const at of order) {
    const body = {
      monitor: { monitor_id: 'm1', name: 'declared' },
      triggered_at: new Date(now().getTime() - at * 1_000).toISOString(),
      signals: [signals[at % sent]],
    }
    expect(await monitor.receive(JSON.stringify(body))).toBe(true)
  }
  while ((await monitor.work()) > 0);
  expect(deaths).toBeGreaterThan(0)
  expect(taken.toSorted()).toEqual(signals.map(({ domain, title }) => `${domain} ${title}`).toSorted())
  expect(asked).toEqual([])
  const outcomes = await deliveries.outcomes()
  const count = (outcome: string) =>
    outcomes.filter((each) => each.outcome === outcome).reduce((sum, { deliveries: each }) => sum + each, 0)
  expect([count('worked'), count('repeated')]).toEqual([sent, sent * 2])
})

test('deliveries that say nothing new are counted by their outcome and work nothing', async () => {
  const asked: string[][] = []
  const monitor = createMonitor({
    deliveries,
    index,
    onDemand: { request: async ({ ids }) => (asked.push([...ids]), []) },
    connectors: ['hubspot'],
    recipes: builtInRecipes,
    recipe: 'profile',
    networkName: 'profnet',
    now,
    onError: () => {},
  })
  await seen([{ id: '1', domain: 'acme.example' }])
  const news = { domain: 'acme.example', type: 'news', date: '2026-11-20' }
  const at = (time: string) => ({ monitor: { monitor_id: 'm1' }, triggered_at: `2026-11-20T${time}:00Z` })
  const bodies = [
    JSON.stringify({ ...at('11:50'), signals: [news] }),
    JSON.stringify({ ...at('11:55'), signals: [news] }),
    JSON.stringify({ ...at('11:45'), signals: [{ ...news, type: 'job' }] }),
    JSON.stringify({ ...at('09:00'), signals: [{ ...news, type: 'cloud' }] }),
    JSON.stringify({ ...at('11:56'), is_test: true, signals: [{ ...news, type: 'x' }] }),
    JSON.stringify({ ...at('11:57'), signals: [{ name: 'Acme' }] }),
    'no json',
  ]
  for (const body of bodies) {
    expect(await monitor.receive(body)).toBe(true)
    await monitor.work()
  }
  expect(await monitor.receive(bodies[0]!)).toBe(false)
  expect(asked).toEqual([['1'], ['1'], ['1']])
  expect(await deliveries.outcomes()).toEqual([
    { monitor: '', outcome: 'malformed', timing: 'on_time', deliveries: 1, repeats: 0 },
    { monitor: 'm1', outcome: 'no_company', timing: 'on_time', deliveries: 1, repeats: 0 },
    { monitor: 'm1', outcome: 'repeated', timing: 'on_time', deliveries: 1, repeats: 0 },
    { monitor: 'm1', outcome: 'test', timing: 'on_time', deliveries: 1, repeats: 0 },
    { monitor: 'm1', outcome: 'worked', timing: 'late', deliveries: 1, repeats: 0 },
    { monitor: 'm1', outcome: 'worked', timing: 'on_time', deliveries: 1, repeats: 1 },
    { monitor: 'm1', outcome: 'worked', timing: 'out_of_order', deliveries: 1, repeats: 0 },
  ])
  const before = await deliveries.outcomes()
  await deliveries.prune({ deliveries: new Date(now().getTime() + 1), seen: new Date(0) })
  expect(await database.db.selectFrom('monitor_deliveries').select('digest').execute()).toEqual([])
  expect(await deliveries.outcomes()).toEqual(before)
  const forget = [{ kind: 'domain' as const, value: 'acme.example' }]
  expect(await eraseSeen(database.db, forget)).toBe(3)
  expect(await eraseSeen(database.db, forget)).toBe(0)
})

test('a monitor is told by its id or our mark; for one that was deleted or is unknown nothing is worked', async () => {
  const settings = new Set(['dach', 'spain'])
  await keepMonitor(database.db, 'dach', 'm1', now())
  await keepMonitor(database.db, 'dach', 'm2', now())
  await keepMonitor(database.db, 'gone', 'm3', now())
  await dropMonitor(database.db, 'gone', 'm3', now())
  const taken: string[] = []
  const monitor = createMonitor({
    deliveries,
    index,
    onDemand: { request: async () => [] },
    whose: async (given) =>
      whoseMonitor(given, {
        declared: settings,
        known: await knownMonitors(database.db),
        former: await formerMonitors(database.db),
      }),
    takeMatch: async (name, [signal]) => (taken.push(`${name} ${signal?.title}`), true),
    connectors: ['hubspot'],
    recipes: builtInRecipes,
    recipe: 'profile',
    networkName: 'profnet',
    now,
    onError: () => {},
  })
  const from = (monitor_id: string | undefined, name: string | undefined, title: string) =>
    monitor.receive(
      JSON.stringify({ monitor: { monitor_id, name }, signals: [{ id: 7, domain: 'acme.example', title }] }),
    )
  await from('m2', 'renamed', 'by its id')
  await from('m1', undefined, 'of the one that was replaced: the same signal')
  await from('m3', 'gone [paydirt gone]', 'of one that was deleted')
  await from('m9', 'dach', 'of a stranger of the same name')
  await from('m9', 'dach [paydirt dach]', 'of a copy')
  await from(undefined, 'spain', 'of a stranger without an id')
  await from(undefined, 'spain [paydirt spain]', 'by its mark')
  while ((await monitor.work()) > 0);
  expect(taken.toSorted()).toEqual(['dach by its id', 'spain by its mark'])
  expect(
    (await deliveries.outcomes()).map((each) => `${each.monitor} ${each.outcome} ${each.deliveries}`),
  ).toEqual([
    ' unknown_monitor 1',
    'dach repeated 1',
    'dach worked 1',
    'gone deleted_monitor 1',
    'm9 unknown_monitor 2',
    'spain worked 1',
  ])
})
