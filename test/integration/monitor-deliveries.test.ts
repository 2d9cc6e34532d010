import { beforeEach, expect, test } from 'vitest'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import {
  createMonitorDeliveries,
  type MonitorDeliveries,
} from '../../src/store/messages/monitor-deliveries.ts'
import { indexKnownTasks } from '../../src/store/identities/fill-from-tasks.ts'
import { createRecordIndex, type RecordIndexLedger } from '../../src/store/identities/record-index.ts'
import { createMonitor } from '../../src/producers/monitor.ts'
import { builtInRecipes } from '../../src/domain/planning/recipes.ts'
import { defaultNetworkHosts as hosts } from '../../src/domain/keys.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import { openLedgerRun } from '../support/ledger-run.ts'
import { scannedTask } from '../support/scanned-task.ts'
import { poisons } from './poison-records.fixture.ts'

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
