import { afterAll, beforeAll, expect, test } from 'vitest'
import { openConnector } from '../../src/app/context/connectors.ts'
import { historyOf } from '../../src/app/records/history.ts'
import { undoRun } from '../../src/app/records/undo.ts'
import { makeReady, syncEntity } from '../../src/app/runs/sync.ts'
import type { Connector } from '../../src/connectors/connector.ts'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startSalesforceStandIn, type SalesforceStandIn } from '../../src/sandbox/salesforce/index.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openHouse } from '../support/house.ts'

let sandbox: Sandbox
let org: SalesforceStandIn
let house: Awaited<ReturnType<typeof openHouse>>
let connector: Connector

beforeAll(async () => {
  sandbox = await startSandbox()
  org = await startSalesforceStandIn({ accounts: 0, contacts: 0, leads: 0 })
  house = await openHouse(sandbox, {
    env: {
      SALESFORCE_LOGIN_URL: org.baseUrl,
      SALESFORCE_CLIENT_ID: org.auth.clientId,
      SALESFORCE_CLIENT_SECRET: org.auth.clientSecret,
    },
  })
  connector = await openConnector(house.context.config, 'salesforce', undefined)
})
afterAll(async () => {
  await connector?.close()
  await house?.close()
  await org?.stop()
  await sandbox?.stop()
})

const urlOf = (index: number) => `https://www.profnet.com/company/sf-merged-${index}`
const known = Array.from({ length: 50 }, (_, index) => index).filter(
  (index) => companyAnswer(urlOf(index)).data?.description,
)

test('a chain of merges keeps history, and undo puts back the values where they are now', async () => {
  const signal = new AbortController().signal
  const sync = (since?: Date) =>
    syncEntity(
      house.context,
      connector,
      { entity: 'Account', filter: [], ...(since ? { since } : {}) },
      { signal },
    )
  const history = (id: string) => historyOf(house.context, { connector: 'salesforce', object: 'Account', id })
  const [a = '', b = '', c = ''] = known
    .slice(0, 3)
    .map(
      (index) =>
        org.store.add('Account', { fields: { Name: `M ${index}`, Profnet_URL__c: urlOf(index) } }).id,
    )
  await makeReady(connector, ['Account'])
  const { summary } = await sync()
  expect(summary.tasks.written).toBe(3)

  org.store.merge('Account', b, a)
  org.store.merge('Account', c, b)
  await sync(new Date(0))
  const after = await history(c)
  expect([...after.mergedFrom].sort()).toEqual([a, b].sort())
  expect((await history(a)).mergedInto).toBe(c)
  const lookups = new Set(after.fields.map(({ lookup }) => lookup))
  expect(lookups.size).toBeGreaterThanOrEqual(3)

  const run = await house.context.runs.get(summary.runId)
  if (!run) throw new Error('the run is gone')
  const undone = await undoRun(house.context, connector, run, { plan: false, signal })
  expect(undone.restored).toBeGreaterThan(0)
  expect(org.store.get('Account', c)?.fields).not.toHaveProperty('Description')
})
