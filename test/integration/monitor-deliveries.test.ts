import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import {
  createMonitorDeliveries,
  type MonitorDeliveries,
} from '../../src/store/messages/monitor-deliveries.ts'
import { createMonitor } from '../../src/producers/monitor.ts'
import { builtInRecipes } from '../../src/domain/planning/recipes.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import { poisons } from './poison-records.fixture.ts'

const now = () => new Date('2026-11-20T12:00:00Z')
/** More than there is room for in one statement, at seven parameters a row. */
const many = 12_000

let database: OpenDatabase
let deliveries: MonitorDeliveries

beforeEach(async () => {
  const ledger = await openFreshLedger()
  database = ledger.database
  deliveries = createMonitorDeliveries(database.db, { now })
  return () => ledger.close()
})

async function seen(
  runId: string,
  run: { connector?: string; state?: 'working' | 'planned' },
  records: { id: string; domain?: string; profile?: string }[],
) {
  const { connector = 'hubspot', state = 'working' } = run
  await database.db
    .insertInto('runs')
    .values({
      id: runId,
      connector,
      object: 'company',
      entity: 'companies',
      recipe: 'profile',
      trigger: 'sync',
      state,
      fingerprint: runId,
      source: '{}',
      watermark: null,
      scanned_at: null,
      started_at: now(),
      finished_at: null,
    })
    .execute()
  const rows = records.map(({ id, domain, profile }, at) => ({
    ordinal: at + 1,
    id,
    identity: { domain },
    key: profile === undefined ? null : `company.profile|${profile}`,
  }))
  await sql`
    insert into tasks (run_id, ordinal, record_id, identity, status, lookup_key, updated_at)
    select ${runId}, ordinal, id, identity, 'queued', key, ${now()}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as rows (ordinal int, id text, identity jsonb, key text)`.execute(
    database.db,
  )
}

test('records are found by profile, or by domain however it was written', async () => {
  await seen('r1', {}, [
    { id: '1', domain: 'https://www.Acme.example/about?x=1' },
    { id: '2', domain: 'notacme.example' },
    { id: '3', profile: 'profnet.example/company/globex' },
    { id: '4', domain: 'globex.example:8443', profile: 'profnet.example/company/globex-other' },
  ])
  await seen('r2', {}, [{ id: '1', domain: 'acme.example' }])
  await seen('r3', { connector: 'csv' }, [{ id: '9', domain: 'acme.example' }])
  await seen('r4', { state: 'planned' }, [{ id: '8', domain: 'acme.example' }])
  const found = await deliveries.known(
    [
      { profile: null, domain: 'acme.example' },
      { profile: 'profnet.example/company/globex', domain: 'globex.example' },
      { profile: null, domain: 'nobody.example' },
    ],
    ['hubspot'],
  )
  expect(found.map(({ place, recordId, connector }) => [place, recordId, connector])).toEqual([
    [0, '1', 'hubspot'],
    [1, '3', 'hubspot'],
    [1, '4', 'hubspot'],
  ])
})

test(`a delivery that names ${many} companies is looked up and written down`, async () => {
  const names = Array.from({ length: many }, (_, at) => `company-${at}.example`)
  await seen(
    'r1',
    {},
    names.slice(0, 3_000).map((name, at) => ({ id: String(at), domain: `www.${name}` })),
  )
  const found = await deliveries.known(
    names.map((domain) => ({ profile: null, domain })),
    ['hubspot'],
  )
  expect(found).toHaveLength(3_000)
  await deliveries.addUnknown('m1', names, 'profile', 'not seen yet')
  // Its process died before the delivery was ended: another does it again.
  await deliveries.addUnknown('m1', names, 'profile', 'not seen yet')
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
  await seen('r1', {}, [
    { id: '1', domain: 'acme.example' },
    { id: '2', profile: 'profnet.com/company/globex' },
  ])
  const requested: string[][] = []
  const errors: unknown[] = []
  const monitor = createMonitor({
    deliveries,
    onDemand: { request: async ({ ids }) => (requested.push([...ids]), []) },
    connectors: ['hubspot'],
    recipes: builtInRecipes,
    recipe: 'profile',
    networkName: 'profnet',
    now,
    onError: (error) => errors.push(error),
  })
  const bad = poisons.map(({ profileUrl, domain, company }) => ({
    company_profile_url: profileUrl?.replace('/in/', '/company/'),
    domain,
    name: company,
  }))
  const companies = [
    { domain: 'acme.example' },
    ...bad,
    { company_profile_url: 'https://www.profnet.com/company/globex' },
  ]
  expect(await monitor.receive(JSON.stringify({ companies }))).toBe(true)
  expect(await monitor.work()).toBe(1)
  expect(errors).toEqual([])
  expect(requested).toEqual([['1', '2']])
  const rows = await database.db
    .selectFrom('monitor_deliveries')
    .select(['records', 'reason', 'body'])
    .execute()
  expect(rows).toEqual([{ records: 2, reason: null, body: null }])
})
