import { createHmac, randomBytes } from 'node:crypto'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { startSalesforceStandIn } from '../../src/sandbox/salesforce/index.ts'
import { personAnswer } from '../../src/sandbox/data/person.ts'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { call, openHttpHouse, secrets } from '../support/http-house.ts'
import { openSalesforceBench, scanAll, type SalesforceBench } from './salesforce.fixture.ts'

const empty = { accounts: 0, contacts: 0, leads: 0, personAccounts: true }
let bench: SalesforceBench | undefined
afterEach(async () => {
  await bench?.stop()
  bench = undefined
})

describe('person accounts', () => {
  const open = async () => {
    bench = await openSalesforceBench(empty)
    const { org, connect } = bench
    const { store } = org
    const company = store.add('Account', { fields: { Name: 'Norvik AS', Website: 'https://norvik.com' } })
    const employee = store.add('Contact', { fields: { LastName: 'Berg', AccountId: company.id } })
    const person = store.addPerson({ FirstName: 'Ida', LastName: 'Holm', MailingCity: 'Bergen' })
    const contactId = String(person.fields['PersonContactId'])
    return { store, company: company.id, employee: employee.id, account: person.id, contactId, org, connect }
  }

  test('are scanned as contacts and not as accounts, without an employer', async () => {
    const { company, employee, contactId, connect } = await open()
    const connector = connect()
    expect((await scanAll(connector, 'Account')).ids).toEqual([company])
    const { pages } = await scanAll(connector, 'Contact')
    const records = pages.flatMap((page) => page.records)
    expect(records.map(({ id }) => id).sort()).toEqual([employee, contactId].sort())
    expect(records.find(({ id }) => id === contactId)).toMatchObject({
      object: 'person',
      identity: { firstName: 'Ida', lastName: 'Holm' },
    })
    expect(records.find(({ id }) => id === contactId)?.identity).not.toHaveProperty('company')
    expect(records.find(({ id }) => id === employee)?.identity).toMatchObject({ company: 'Norvik AS' })
  })

  test('are read as contacts, and an account says which', async () => {
    const { account, company, contactId, connect } = await open()
    const connector = connect()
    expect((await connector.read('Contact', [contactId])).get(contactId)).toMatchObject({
      state: 'present',
      values: { city: 'Bergen' },
      identity: { lastName: 'Holm' },
    })
    const accounts = await connector.read('Account', [account, company])
    expect(accounts.get(account)).toEqual({ state: 'person', entity: 'Contact', id: contactId })
    expect(accounts.get(company)).toMatchObject({ state: 'present' })
    expect(await connector.people?.('Account', [account, account.slice(0, 15), company, 'x'])).toEqual(
      new Map([
        [account, { entity: 'Contact', id: contactId }],
        [account.slice(0, 15), { entity: 'Contact', id: contactId }],
      ]),
    )
  })

  test('are written on the account, since the org takes no write to their contact', async () => {
    const { store, account, contactId, employee, org, connect } = await open()
    const { baseUrl, token } = org
    const direct = await fetch(`${baseUrl}/services/data/v68.0/sobjects/Contact/${contactId}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ Title: 'Pilot' }),
    })
    expect(await direct.json()).toMatchObject([{ errorCode: 'INSUFFICIENT_ACCESS_OR_READONLY' }])

    const connector = connect()
    await connector.read('Contact', [contactId, employee])
    const patch = {
      job_title: { set: 'Pilot' },
      mobile_phone: { set: '+4791234567' },
      profnet_url: { set: 'https://www.profnet.com/in/ida-holm' },
      about: { set: 'Flies' },
    }
    const results = await connector.write('Contact', [
      { id: employee, patch: { job_title: { set: 'Cook' } } },
      { id: contactId, patch },
      { id: employee, patch: { city: { set: 'Oslo' } } },
    ])
    expect(results).toMatchObject([
      { id: employee, status: 'written' },
      // A contact's description is not among the fields of a person.
      { id: contactId, status: 'written', leftOut: [{ field: 'about', code: 'NO_SUCH_FIELD' }] },
      { id: employee, status: 'written' },
    ])
    expect(store.get('Account', account)?.fields).toMatchObject({
      PersonTitle: 'Pilot',
      PersonMobilePhone: '+4791234567',
      Profnet_URL__pc: 'https://www.profnet.com/in/ida-holm',
      Paydirt_Status__pc: 'enriched',
    })
    expect(store.get('Contact', contactId)?.fields).toMatchObject({ Title: 'Pilot' })
    expect(store.get('Contact', employee)?.fields).toMatchObject({ Title: 'Cook', MailingCity: 'Oslo' })
    const { pages } = await scanAll(connector, 'Contact')
    expect(new Set(pages.flatMap(({ ownWrites }) => [...(ownWrites ?? [])]))).toEqual(
      new Set([employee, contactId]),
    )
  })

  test('are enriched as people by the button on the account', async () => {
    const sandbox = await startSandbox()
    const org = await startSalesforceStandIn(empty)
    const house = await openHttpHouse(sandbox, {
      env: {
        SALESFORCE_LOGIN_URL: org.baseUrl,
        SALESFORCE_CLIENT_ID: org.auth.clientId,
        SALESFORCE_CLIENT_SECRET: org.auth.clientSecret,
      },
    })
    onTestFinished(async () => {
      await house.close()
      await org.stop()
      await sandbox.stop()
    })
    const url = (index: number) => `https://www.profnet.com/in/person-account-${index}`
    const index = Array.from({ length: 50 }, (_, at) => at).find((at) => {
      const found = personAnswer(url(at)).data
      return found?.city && found.country_code
    })
    const account = org.store.addPerson({ LastName: 'Holm', Profnet_URL__c: url(index ?? 0) })
    const press = async (body: object) => {
      const text = JSON.stringify({ object: 'Account', recordId: account.id, ...body })
      const [time, nonce] = [String(Math.floor(Date.now() / 1000)), randomBytes(12).toString('hex')]
      const signed = `${time}.${nonce}.POST./hooks/salesforce.${text}`
      return call(`${house.url}/hooks/salesforce`, {
        body: text,
        headers: {
          'x-paydirt-timestamp': time,
          'x-paydirt-nonce': nonce,
          'x-paydirt-signature': `v1=${createHmac('sha256', secrets.salesforce).update(signed).digest('hex')}`,
        },
      })
    }
    const { status, body } = await press({ action: 'enrich' })
    expect(status).toBe(200)
    expect(body).toMatchObject({ status: 'written', done: true })
    expect(org.store.get('Account', account.id)?.fields).toHaveProperty('PersonMailingCity')
    expect(await press({ action: 'status', taskId: body['taskId'] })).toMatchObject({
      body: { status: 'written', last: { status: 'written' } },
    })
  })
})
