import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startHubspotStandIn } from '../../src/sandbox/hubspot/index.ts'
import { startSalesforceStandIn } from '../../src/sandbox/salesforce/index.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openHttpHouse, secrets, type HttpHouse } from '../support/http-house.ts'
import { testSeed } from '../support/seed.ts'

let sandbox: Sandbox
let hubspot: Awaited<ReturnType<typeof startHubspotStandIn>>
let salesforce: Awaited<ReturnType<typeof startSalesforceStandIn>>
let house: HttpHouse

beforeAll(async () => {
  const pages = { paydirtUrl: () => house.url, secret: secrets.salesforce }
  const limits = { searchPerSecond: 100_000, perTenSeconds: 100_000 }
  const clientSecret = secrets.hubspot
  ;[sandbox, hubspot, salesforce] = await Promise.all([
    startSandbox(),
    startHubspotStandIn({
      seed: testSeed(),
      companies: 60,
      contacts: 2,
      limits,
      pages,
      secrets: { accessToken: 'pat-na1-test', clientSecret },
    }),
    startSalesforceStandIn({ seed: testSeed(), accounts: 2, contacts: 2, leads: 2, pages }),
  ])
  hubspot.faults.acceptedTlds.add('example')
  house = await openHttpHouse(sandbox, {
    env: {
      HUBSPOT_BASE_URL: hubspot.baseUrl,
      HUBSPOT_ACCESS_TOKEN: hubspot.token,
      SALESFORCE_LOGIN_URL: salesforce.baseUrl,
      SALESFORCE_CLIENT_ID: salesforce.auth.clientId,
      SALESFORCE_CLIENT_SECRET: salesforce.auth.clientSecret,
    },
  })
})
afterAll(async () => {
  await house?.close()
  await Promise.all([sandbox?.stop(), hubspot?.stop(), salesforce?.stop()])
})

async function page(path: string, base = hubspot.baseUrl): Promise<string> {
  const response = await fetch(`${base}${path}`)
  expect(response.status).toBe(200)
  return spaced(await response.text())
}
/** Markup breaks its lines where it likes. */
const spaced = (text: string) => text.replaceAll(/\s+/g, ' ')
const post = (url: string, form: Record<string, string> = {}, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', body: new URLSearchParams(form), headers })

describe('the page of a stand-in', () => {
  test('lists the records, those that changed last first and by whom, and finds one by what it holds', async () => {
    const { id } = hubspot.store.add('companies', { properties: { name: 'Lighthouse Bakery' } })
    const first = await page('/')
    expect(first).toContain('Companies (61)')
    expect(first).toContain('page 1 of 2')
    expect(first.indexOf('Lighthouse Bakery')).toBeLessThan(first.indexOf('page 1 of 2'))
    expect(await page('/_sandbox/companies?page=2')).toContain('page 2 of 2')
    const found = await page('/_sandbox/companies?q=lighthouse')
    expect(found).toContain(`/_sandbox/companies/${id}`)
    expect(found).toContain('1 record,')
    expect(await page('/_sandbox/companies?q=nothing%20like%20it')).toContain('0 records')
  })

  test('keeps what was asked when it loads itself again', async () => {
    const text = await page('/_sandbox/companies?q=a&page=2')
    expect(text).toContain('href="/_sandbox/companies?q=a&amp;page=2&amp;refresh=5"')
    expect(await page('/_sandbox/companies?refresh=5')).toContain('http-equiv="refresh" content="5"')
  })

  test('shows whatever stands in a record as text', async () => {
    const hostile = `<script>alert(1)</script>"'&\u0007\u202eabc`
    const { id } = hubspot.store.add('contacts', {
      properties: { firstname: hostile, company: 'x'.repeat(5000), jobtitle: 'مدير المبيعات' },
    })
    for (const path of ['/_sandbox/contacts', `/_sandbox/contacts/${id}`]) {
      const text = await page(path)
      expect(text).toContain('&lt;script&gt;alert(1)')
      for (const raw of ['<script', '\u0007', '\u202e']) expect(text).not.toContain(raw)
    }
    expect(await page(`/_sandbox/contacts/${id}`)).toContain('x'.repeat(5000))
  })

  test('lets a person change a value by the rules of the CRM, and says who it was', async () => {
    const { id } = hubspot.store.add('companies', { properties: { name: 'Maple Mill' } })
    const url = `${hubspot.baseUrl}/_sandbox/companies/${id}`
    await post(url, { field: 'city', value: 'Lübeck' })
    expect(hubspot.store.get('companies', id)?.properties['city']).toBe('Lübeck')
    const text = await page(`/_sandbox/companies/${id}`)
    expect(text).toContain('by a person, on this page, was blank')
    const refused = await post(url, { field: 'industry', value: 'Rope making' })
    expect(await refused.text()).toContain('Not saved:')
    expect(await page(`/_sandbox/companies/${id}`)).not.toContain('Not saved:')
    expect(hubspot.store.get('companies', id)?.properties['industry']).toBeUndefined()
    const [account] = salesforce.store.list('Account')
    const edit = `${salesforce.baseUrl}/_sandbox/Account/${account!.id}`
    await post(edit, { field: 'NumberOfEmployees', value: '12' })
    expect(account!.fields['NumberOfEmployees']).toBe(12)
    expect(await (await post(edit, { field: 'NumberOfEmployees', value: 'many' })).text()).toContain(
      'Not saved:',
    )
  })

  test('is closed to other sites and to names that point here', async () => {
    const { id } = hubspot.store.add('companies', { properties: { name: 'Quiet' } })
    const url = `${hubspot.baseUrl}/_sandbox/companies/${id}`
    const form = { field: 'city', value: 'Elsewhere' }
    expect((await post(url, form, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await post(url, form, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect(hubspot.store.get('companies', id)?.properties['city']).toBeUndefined()
    const response = await fetch(url)
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
  })

  test('answers where the real CRM has its records, and not where it has its API', async () => {
    const [company] = hubspot.store.list('companies')
    const [lead] = salesforce.store.list('Lead')
    expect(await page(`/contacts/62515/record/0-2/${company!.id}`)).toContain(company!.id)
    expect(await page(`/lightning/r/Lead/${lead!.id}/view`, salesforce.baseUrl)).toContain(lead!.id)
    expect((await fetch(`${hubspot.baseUrl}/crm/v3/objects/companies`)).status).toBe(401)
    expect((await fetch(`${hubspot.baseUrl}/_sandbox/deals`)).status).toBe(404)
    expect((await fetch(`${hubspot.baseUrl}/_sandbox/companies/1`)).status).toBe(404)
    const bare = await startHubspotStandIn({ companies: 1, contacts: 0 })
    try {
      expect((await fetch(`${bare.baseUrl}/_sandbox/`)).status).toBe(401)
    } finally {
      await bare.stop()
    }
  })

  test('has the button of the CRM: a press is signed, paid for, and seen in the record', async () => {
    const company = { name: 'Harbour Lights', profnet_url: 'https://www.profnet.com/company/harbour-lights' }
    const { id } = hubspot.store.add('companies', { properties: company })
    const pressed = await post(`${hubspot.baseUrl}/_sandbox/companies/${id}/press`)
    const text = spaced(await pressed.text())
    expect(text).toMatch(/Paydirt says written.*: \d+ fields, 0\.010000 USD/)
    expect(text).toContain('by the API, was blank')
    expect(hubspot.store.get('companies', id)?.properties['paydirt_status']).toBeDefined()

    const lead = salesforce.store.add('Lead', {
      fields: {
        LastName: 'Novak',
        Company: 'Kite',
        Profnet_URL__c: 'https://www.profnet.com/in/oskar-novak',
      },
    })
    const answer = await post(`${salesforce.baseUrl}/_sandbox/Lead/${lead.id}/press`)
    expect(await answer.text()).toMatch(/Paydirt says written.*: \d+ fields/)
  })

  test('shows after a restart what it showed before, where its records are kept', async () => {
    const stateFile = join(await mkdtemp(join(tmpdir(), 'crm-')), 'chain.json')
    const starts = [
      () => startHubspotStandIn({ companies: 2, contacts: 2, pages: { paydirtUrl: () => '' }, stateFile }),
      () =>
        startSalesforceStandIn({
          accounts: 2,
          contacts: 2,
          leads: 2,
          pages: { paydirtUrl: () => '', secret: '' },
          stateFile: `${stateFile}.sf`,
        }),
    ]
    for (const [at, path] of ['contacts', 'Contact'].entries()) {
      const seen: string[] = []
      for (const round of [1, 2]) {
        const standIn = await starts[at]!()
        try {
          const list = await page(`/_sandbox/${path}`, standIn.baseUrl)
          const record = /href="(\/_sandbox\/\w+\/\w+)"/.exec(list)?.[1] ?? ''
          const field = at === 0 ? 'jobtitle' : 'Title'
          if (round === 1) await post(`${standIn.baseUrl}${record}`, { field, value: 'Keeper' })
          seen.push(await page(`/_sandbox/${path}`, standIn.baseUrl), await page(record, standIn.baseUrl))
        } finally {
          await standIn.stop()
        }
      }
      expect(seen[1]).toContain('by a person, on this page')
      expect(seen.slice(2)).toEqual(seen.slice(0, 2))
    }
  })

  test('says where Paydirt should be when none is there', async () => {
    const alone = await startHubspotStandIn({
      companies: 1,
      contacts: 0,
      pages: { paydirtUrl: () => 'http://127.0.0.1:1' },
    })
    try {
      const [company] = alone.store.list('companies')
      const pressed = await post(`${alone.baseUrl}/_sandbox/companies/${company!.id}/press`)
      expect(await pressed.text()).toContain('Paydirt does not answer at http://127.0.0.1:1')
    } finally {
      await alone.stop()
    }
  })
})
