import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeReport } from '../../src/app/reports/report.ts'
import { summaryText } from '../../src/cli/terminal/print-summary.ts'
import { canonicalProfileUrl, lookupKey } from '../../src/domain/keys.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openCrmHouse, type CrmHouse } from './crm-house.ts'

const url = 'https://www.profnet.com/company/hostile-answers'
const hostile = {
  company_name: 'Acme',
  profnet_url: url,
  company_url: 'javascript:alert(4)',
  domain: 'evil.example"><script>',
  founded_year: -1e300,
  company_size: -7,
  country_code: 'Atlantis',
  description: 'Makes robots \u001b[2J',
  industry: null,
}

let sandbox: Sandbox
let house: CrmHouse
beforeAll(async () => {
  sandbox = await startSandbox()
  house = await openCrmHouse(sandbox)
})
afterAll(async () => {
  await house.close()
  await sandbox.stop()
})

test('values that are none of their kind reach neither a file nor a CRM, and are named', async () => {
  const file = { csv: `profnet_url\n${url}\n` } as Parameters<CrmHouse['enrich']>[0]
  await house.enrich(file)
  const canonical = canonicalProfileUrl('company', url)
  await house.context.lookups.storeFree(lookupKey('company.profile', canonical.ok ? canonical.value : ''), {
    outcome: 'found',
    data: hostile,
    freshUntil: new Date(Date.now() + 86_400_000),
  })
  const told = [
    'left out of the answer: domain (it is not a domain), website (its scheme is not http or https)',
    'description (it has control characters)',
    'employees (it is not a count)',
    'founded_year (it is not a year)',
    'country_code (it is not a known country)',
  ].join(', ')

  const { rows } = await house.enrich(file)
  expect(rows[0]).toMatchObject({
    company_name: 'Acme',
    website: '',
    domain: '',
    founded_year: '',
    employees: '',
    country_code: '',
    description: '',
    paydirt_status: 'written',
    paydirt_reason: told,
  })

  const id = house.add('companies', { profnet_url: url })
  const { summary } = await house.sync('companies')
  expect(Object.keys(house.seen('companies').get(id) ?? {}).sort()).toEqual(['name', 'profnet_url'])
  expect(summary.reasons).toEqual([{ status: 'written', reason: told, count: 1, first: id }])
  expect(summaryText(summary, 'finished', undefined)).toContain(`1 written: ${told}`)
  const { leftOut } = await makeReport(house.context, { run: summary.runId })
  expect(leftOut).toContainEqual({
    object: 'company',
    field: 'founded_year',
    reason: 'it is not a year',
    records: 1,
  })
  expect(leftOut.map(({ field }) => field).sort()).toEqual(
    ['country_code', 'description', 'domain', 'employees', 'founded_year', 'website'].sort(),
  )
})
