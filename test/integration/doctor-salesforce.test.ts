import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { resolveConfig } from '../../src/app/config/config.ts'
import { readEnvironment } from '../../src/app/config/environment.ts'
import { examine } from '../../src/app/ops/doctor.ts'
import type { Finding } from '../../src/app/ops/finding.ts'
import { layLedger } from '../support/ledger-template.ts'
import { freshStores } from '../support/stores.ts'
import { openSalesforceBench, type SalesforceBench } from './salesforce.fixture.ts'

let bench: SalesforceBench
afterEach(() => bench.stop())

async function diagnose(loginUrl = bench.org.baseUrl): Promise<Finding[]> {
  const stores = await freshStores()
  try {
    const dataDir = join(stores.dataDir, 'data')
    await layLedger(dataDir)
    const { clientId, clientSecret } = bench.org.auth
    const env = {
      PAYDIRT_DATA_DIR: dataDir,
      SALESFORCE_LOGIN_URL: loginUrl,
      SALESFORCE_CLIENT_ID: clientId,
      SALESFORCE_CLIENT_SECRET: clientSecret,
    }
    const findings: Finding[] = []
    for await (const finding of examine(resolveConfig(readEnvironment(env), {}))) findings.push(finding)
    return findings.filter(({ name }) => name === 'salesforce')
  } finally {
    await stores.cleanup()
  }
}

test('the doctor says each fact about an org once, and advises nothing that Salesforce does not have', async () => {
  bench = await openSalesforceBench()
  for (const entity of ['Account', 'Contact', 'Lead'] as const) {
    bench.org.store.schema[entity].fields.delete('paydirt_source__c')
    bench.org.store.schema[entity].fields.delete('paydirt_status__c')
  }
  bench.org.store.schema.Contact.fields.delete('title')
  bench.org.store.access.sharing = 'private'
  const findings = await diagnose()
  expect(findings.filter(({ status }) => status === 'problem')).toEqual([])
  const said = findings.map(({ message }) => message)
  for (const fact of [
    'Account: Paydirt_Status__c',
    'Contact: Paydirt_Status__c',
    'Title',
    'YearStarted',
    'cannot be read',
  ])
    expect([fact, said.filter((message) => message.includes(fact)).length]).toEqual([fact, 1])
  expect(
    said.filter((message) => message.includes('Lead') && message.includes('Paydirt_Source__c')),
  ).toHaveLength(1)
  const advice = findings.flatMap(({ todo }) => todo ?? []).join('\n')
  expect(advice).not.toMatch(/token|scope|first sync creates/)
})

test('the doctor points to My Domain, and says nothing else about an org that it cannot reach', async () => {
  bench = await openSalesforceBench()
  expect(await diagnose(bench.org.sharedLoginUrl)).toEqual([
    expect.objectContaining({ status: 'problem', message: expect.stringContaining('My Domain') }),
  ])
})
