import { expect, test } from 'vitest'
import { deskConfig } from '../config/desk.ts'
import { resolveConfig } from '../config/config.ts'
import { readEnvironment } from '../config/environment.ts'
import { deskSchema } from '../config/desk.ts'
import { createRecordLinks } from './record-links.ts'

const hash = `0x${'ab'.repeat(32)}`

function linksOf(env: Record<string, string>, desk: object = {}) {
  const config = { ...resolveConfig(readEnvironment(env), {}), desk: deskConfig({}, deskSchema.parse(desk)) }
  return createRecordLinks(config, {} as never)
}

test('a transaction leads to the explorer of its chain, and to none that is not known', () => {
  const { transactionUrl } = linksOf({})
  expect(transactionUrl('eip155:8453', hash)).toBe(`https://basescan.org/tx/${hash}`)
  expect(transactionUrl('eip155:1', hash)).toBeUndefined()
  expect(transactionUrl('card', 'pi_123')).toBeUndefined()
  for (const wrong of ['', '0x12', `${hash}/../..`, 'javascript:alert(1)', `${hash}\n`])
    expect(transactionUrl('eip155:8453', wrong)).toBeUndefined()
})

test('the settings name explorers, or none; a chain on this machine has none by itself', () => {
  const local = { PAYDIRT_RPC_URL: 'http://127.0.0.1:8545' }
  expect(linksOf(local).transactionUrl('eip155:8453', hash)).toBeUndefined()
  expect(
    linksOf({}, { explorers: { 'eip155:8453': false } }).transactionUrl('eip155:8453', hash),
  ).toBeUndefined()
  const own = { explorers: { 'eip155:8453': 'https://scan.example/{transaction}?a=b' } }
  expect(linksOf(local, own).transactionUrl('eip155:8453', hash)).toBe(`https://scan.example/${hash}?a=b`)
  for (const wrong of [
    'http://scan.example/{transaction}',
    'javascript:{transaction}',
    'https://scan.example/',
  ])
    expect(deskSchema.safeParse({ explorers: { 'eip155:8453': wrong } }).success).toBe(false)
  expect(deskSchema.safeParse({ explorers: { base: false } }).success).toBe(false)
})

test('a record leads into its CRM where the account is known, and a file into none', async () => {
  const place = { connector: 'hubspot', entity: 'companies', id: '7 7' }
  const { recordUrl } = linksOf({})
  expect(await recordUrl(place)).toBeUndefined()
  expect(await recordUrl({ ...place, connector: 'csv' })).toBeUndefined()
  const salesforce = linksOf({
    SALESFORCE_LOGIN_URL: 'https://acme.my.salesforce.com',
    SALESFORCE_CLIENT_ID: 'id',
    SALESFORCE_CLIENT_SECRET: 'secret',
  })
  expect(
    await salesforce.recordUrl({ connector: 'salesforce', entity: 'Lead', id: '00Q000000000001EAA' }),
  ).toBe('https://acme.my.salesforce.com/lightning/r/Lead/00Q000000000001EAA/view')
})
