import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import type { RunSummary } from '../../src/app/runs/summary.ts'
import { makeReady } from '../../src/app/runs/sync.ts'
import type { Connector } from '../../src/connectors/connector.ts'
import { hubspotMapping } from '../../src/connectors/hubspot/mapping.ts'
import { salesforceMapping } from '../../src/connectors/salesforce/mapping.ts'
import { resolveMapping } from '../../src/domain/mapping/schema.ts'
import { startHubspotStandIn } from '../../src/sandbox/hubspot/index.ts'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk } from '../support/cli.ts'
import { testSeed } from '../support/seed.ts'
import { closeAfterEach, connect, standIn, thrown } from '../integration/hubspot.fixture.ts'
import { openSalesforceBench, scanAll, type SalesforceBench } from '../integration/salesforce.fixture.ts'

closeAfterEach()

async function recordsOf(connector: Connector, entity: string) {
  return (await scanAll(connector, entity)).pages.flatMap(({ records }) => records)
}

/** Reduces an app to the rights that an owner gives who grants companies alone. */
function grantCompaniesAlone({ scopes }: { scopes: Set<string> }): void {
  for (const scope of scopes) if (scope.includes('contacts')) scopes.delete(scope)
}

describe('with a token for companies alone', () => {
  test('companies are ready, scanned, read and written; contacts are refused with the scopes', async () => {
    const hubspot = await standIn({ companies: 3, contacts: 3 })
    grantCompaniesAlone(hubspot.auth)
    const connector = connect(hubspot)
    await makeReady(connector, ['companies'])
    const ids: string[] = []
    for await (const page of connector.scan('companies', {})) ids.push(...page.records.map(({ id }) => id))
    expect(ids).toHaveLength(3)
    expect((await connector.read('companies', ids)).size).toBe(3)
    const [id = ''] = ids
    expect(
      await connector.write('companies', [{ id, patch: { description: { set: 'Ropes' } } }]),
    ).toMatchObject([{ status: 'written' }])

    expect(await thrown(makeReady(connector, ['contacts']))).toMatchObject({
      name: 'ConfigError',
      message: expect.stringContaining('crm.objects.contacts.read'),
    })
    expect(await connector.check(['companies'])).toMatchObject({ missingScopes: [], problems: [] })
    expect((await connector.check()).missingScopes).toContain('crm.objects.contacts.write')
  })

  test('a sync of everything does the companies, and says why contacts are left out', async () => {
    const sandbox = await startSandbox()
    const hubspot = await startHubspotStandIn({
      seed: testSeed(),
      companies: 3,
      contacts: 3,
      limits: { searchPerSecond: 100_000, perTenSeconds: 100_000 },
    })
    const desk = await openDesk(sandbox, {
      config: { connectors: { hubspot: { tenSecondLimit: 100_000, searchLimit: 100_000 } } },
    })
    onTestFinished(async () => {
      await desk.close()
      await hubspot.stop()
      await sandbox.stop()
    })
    grantCompaniesAlone(hubspot.auth)
    const environment = { HUBSPOT_BASE_URL: hubspot.baseUrl, HUBSPOT_ACCESS_TOKEN: hubspot.token }

    const both = await desk.run(['sync', 'hubspot', '--json'], environment)
    expect(both).toMatchObject({ status: 2 })
    expect(both.json<RunSummary>()).toMatchObject({ object: 'company' })
    expect(both.stderr).toMatch(/contacts left out: .*crm\.(objects|schemas)\.contacts/)
  })
})

test('a sync of everything whose recipe is for companies alone buys nothing for them either', async () => {
  const sandbox = await startSandbox()
  const hubspot = await startHubspotStandIn({ seed: testSeed(), companies: 3, contacts: 3 })
  const fields = ['industry', 'description']
  const desk = await openDesk(sandbox, {
    config: {
      connectors: { hubspot: { tenSecondLimit: 100_000, searchLimit: 100_000 } },
      recipes: { told: { company: { steps: ['company.profile'], fields } } },
    },
  })
  onTestFinished(async () => {
    await desk.close()
    await hubspot.stop()
    await sandbox.stop()
  })
  const environment = { HUBSPOT_BASE_URL: hubspot.baseUrl, HUBSPOT_ACCESS_TOKEN: hubspot.token }

  const both = await desk.run(['sync', 'hubspot', '--recipe', 'told', '--json'], environment)
  expect(both).toMatchObject({
    status: 2,
    stdout: '',
    stderr: expect.stringContaining('contacts: there is no recipe "told"'),
  })
  expect(both.stderr).toContain('--object syncs one object alone')
  expect(await desk.transfers()).toEqual([])
  expect((await desk.run(['runs', '--json'])).json()).toEqual([])

  const companies = ['sync', 'hubspot', '--recipe', 'told', '--object', 'company', '--json']
  expect((await desk.run(companies, environment)).json<RunSummary>().lookups.paid).toBeGreaterThan(0)
})

test('an identifying property that the account lacks is named, and stops its own object alone', async () => {
  const hubspot = await standIn({ companies: 1, contacts: 1 })
  const mapping = resolveMapping(hubspotMapping, { contacts: { identity: { email: ['work_mail'] } } })
  const connector = connect(hubspot, { mapping })
  await makeReady(connector, ['companies'])
  expect(await thrown(makeReady(connector, ['contacts']))).toMatchObject({
    code: 'unknown_property',
    message: expect.stringContaining('mapping.contacts.identity.email: the CRM has no property "work_mail"'),
  })
})

describe('a Salesforce user', () => {
  let bench: SalesforceBench
  afterEach(() => bench.stop())

  test('without Read for leads syncs accounts and contacts', async () => {
    bench = await openSalesforceBench({ accounts: 3, contacts: 3, leads: 3 })
    bench.org.store.access.hidden.add('Lead')
    const connector = bench.connect()
    await makeReady(connector, ['Account', 'Contact'])
    const records = await recordsOf(connector, 'Account')
    expect(records).toHaveLength(3)
    await expect(makeReady(connector, ['Lead'])).rejects.toMatchObject({
      code: 'salesforce_access',
      message: expect.stringContaining('no Lead'),
    })
    await expect(recordsOf(connector, 'Lead')).rejects.toMatchObject({ code: 'salesforce_access' })
  })

  test('without Read for accounts syncs contacts, without the names of their companies', async () => {
    bench = await openSalesforceBench({ accounts: 3, contacts: 3, leads: 0 })
    bench.org.store.access.hidden.add('Account')
    const connector = bench.connect()
    await makeReady(connector, ['Contact'])
    expect((await connector.check(['Contact'])).problems).toContainEqual(
      expect.objectContaining({
        code: 'field_left_out',
        message: expect.stringContaining('Account.Name, Account.Website'),
      }),
    )
    const records = await recordsOf(connector, 'Contact')
    expect(records).toHaveLength(3)
    const ids = records.map(({ id }) => id)
    expect([...(await connector.read('Contact', ids)).values()].map(({ state }) => state)).toEqual([
      'present',
      'present',
      'present',
    ])
  })

  test('who may not see the website of accounts syncs contacts with the names of their companies', async () => {
    bench = await openSalesforceBench({ accounts: 3, contacts: 3, leads: 0 })
    bench.org.store.schema.Account.fields.delete('website')
    const connector = bench.connect()
    await makeReady(connector, ['Contact'])
    const records = await recordsOf(connector, 'Contact')
    expect(records.some(({ identity }) => identity.company !== undefined)).toBe(true)
    expect(records.every(({ identity }) => identity.domain === undefined)).toBe(true)
  })

  test('whose identifying field is missing is told which, and goes on with other objects', async () => {
    bench = await openSalesforceBench({ accounts: 1, contacts: 1, leads: 1 })
    const mapping = resolveMapping(salesforceMapping, { Lead: { identity: { email: ['Work_Email__c'] } } })
    const connector = bench.connect({ mapping })
    await makeReady(connector, ['Account', 'Contact'])
    await expect(makeReady(connector, ['Lead'])).rejects.toMatchObject({
      code: 'unknown_property',
      message: expect.stringMatching(/Lead: .*identity\.email.*"Work_Email__c"/),
    })
  })
})
