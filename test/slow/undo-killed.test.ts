import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { profileValues } from '../../src/domain/fields.ts'
import type { RecordHistory } from '../../src/app/records/history.ts'
import type { RunSummary } from '../../src/app/runs/summary.ts'
import type { Undone } from '../../src/app/records/undo.ts'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startHubspotStandIn, type HubspotStandIn } from '../../src/sandbox/hubspot/index.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDatabase } from '../../src/store/database/database.ts'
import { openDesk, type Desk } from '../support/cli.ts'
import { testSeed } from '../support/seed.ts'
import { quick, roomy } from '../integration/crm-house.ts'

let sandbox: Sandbox
let hubspot: HubspotStandIn
let desk: Desk

beforeAll(async () => {
  sandbox = await startSandbox()
  hubspot = await startHubspotStandIn({ seed: testSeed(), companies: 0, contacts: 0, limits: roomy })
})
afterAll(async () => {
  await hubspot.stop()
  await sandbox.stop()
})
afterEach(() => desk.close())

const urlOf = (name: string) => `https://www.profnet.com/company/${name}`
const known = Array.from({ length: 40 }, (_, index) => `killed-co-${index}`).filter((name) => {
  const { data } = companyAnswer(urlOf(name))
  return data?.description && profileValues('company', data)['street']
})

test('killed between the CRM write and its storing: each field is kept once, with the value of before, and is undone', async () => {
  const policies = { hubspot: { street: 'overwrite' as const } }
  desk = await openDesk(sandbox, { config: { connectors: quick, policies } })
  const environment = { HUBSPOT_BASE_URL: hubspot.baseUrl, HUBSPOT_ACCESS_TOKEN: hubspot.token }
  const ids = known
    .slice(0, 4)
    .map((name) =>
      hubspot.store.add('companies', {
        properties: { name, profnet_url: urlOf(name), address: 'Old Street 7' },
      }),
    )
    .map(({ id }) => id)
  const seen = () =>
    ids.map((id) => {
      const entries = Object.entries(hubspot.store.get('companies', id)?.properties ?? {})
      return Object.fromEntries(
        entries.filter(([name, value]) => value && !name.startsWith('paydirt_') && !name.endsWith('date')),
      )
    })
  const before = seen()
  const isWritten = () =>
    hubspot.store.get('companies', ids[0] ?? '')?.properties['paydirt_status'] === 'enriched'

  // The CRM takes the write and its answer never comes: the process stands in the window until it is killed.
  // Not before the lookups: the sync first asks the account what it may write.
  const paidBefore = sandbox.stats().settled
  let isSet = false
  const isInWindow = () => {
    if (!isSet && sandbox.stats().settled > paidBefore) {
      hubspot.faults.inject({ kind: 'drop-after', path: /batch\/update/, times: 1_000 })
      isSet = true
    }
    return isWritten()
  }
  const args = ['sync', 'hubspot', '--object', 'company', '--json']
  const killed = await desk.start(args, environment).killWhen('SIGKILL', isInWindow)
  expect(killed.signal).toBe('SIGKILL')
  expect(seen()).not.toEqual(before)
  hubspot.faults.clear()

  const resumed = await desk.run(args, environment)
  expect([resumed.status, resumed.stderr]).toEqual([0, expect.any(String)])
  const summary = resumed.json<RunSummary>()
  expect(summary).toMatchObject({ records: 4, tasks: { written: 4, unchanged: 0 } })
  expect(await desk.transfers()).toHaveLength(4)

  const database = await openDatabase({
    dataDir: `${desk.stores.dataDir}/data`,
    ...(desk.stores.databaseUrl ? { url: desk.stores.databaseUrl } : {}),
  })
  const all = await database.db.selectFrom('field_writes').selectAll().execute()
  await database.close()
  // Industries that the account has no option for are kept as refused.
  const rows = all.filter(({ state }) => state !== 'rejected')
  expect(all.every(({ state, field }) => state !== 'rejected' || field === 'industry')).toBe(true)
  expect(new Set(rows.map((row) => `${row.record_id} ${row.field}`)).size).toBe(rows.length)
  expect(rows.every(({ state }) => state === 'written')).toBe(true)
  expect(rows.filter(({ field }) => field === 'street').map(({ old_value: old }) => old)).toEqual(
    ids.map(() => 'Old Street 7'),
  )
  expect(
    rows.filter(({ field }) => field === 'description').every(({ old_value: old }) => old === null),
  ).toBe(true)
  expect(rows.reduce((sum, row) => sum + row.price_atomic, 0n)).toBe(40_000n)

  const history = (
    await desk.run(['history', `hubspot:company:${ids[0]}`, '--json'], environment)
  ).json<RecordHistory>()
  expect(history.fields.find(({ field }) => field === 'street')).toMatchObject({
    old: 'Old Street 7',
    new: profileValues('company', companyAnswer(urlOf(known[0] as string)).data ?? {})['street'],
    run: summary.runId,
  })

  const undone = await desk.run(['undo', summary.runId, '--json'], environment)
  expect([undone.status, undone.stderr]).toEqual([0, expect.any(String)])
  expect(undone.json<Undone>()).toMatchObject({ restored: rows.length, left: 0 })
  expect(seen()).toEqual(before)
}, 180_000)
