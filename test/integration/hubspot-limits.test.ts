import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { createMemoryCallBudget } from '../../src/connectors/budget.ts'
import type { Connector } from '../../src/connectors/connector.ts'
import { createHubspotConnector } from '../../src/connectors/hubspot/hubspot-connector.ts'
import { ConfigError, RetriableError } from '../../src/domain/errors.ts'
import { hubspotMapping } from '../../src/connectors/hubspot/mapping.ts'
import { resolveMapping } from '../../src/domain/mapping/schema.ts'

closeAfterEach()
import {
  noon,
  open,
  standIn,
  connect,
  ready,
  contacts,
  titled,
  thrown,
  budgetThatOnlyHears,
  closeAfterEach,
} from './hubspot.fixture.ts'

describe('credentials and rights', () => {
  test('a revoked token is a problem with what to do', async () => {
    const hubspot = await standIn()
    const ids = contacts(hubspot, 2)
    const connector = await ready(hubspot)
    hubspot.auth.revokeAccessToken()
    const { problems } = await connector.check()
    expect(problems).toEqual([
      {
        code: 'hubspot_token_refused',
        message: expect.stringContaining('refuses the access token'),
        todo: expect.stringContaining('HUBSPOT_ACCESS_TOKEN'),
      },
    ])
    expect(await thrown(connector.read('contacts', ids))).toBeInstanceOf(ConfigError)
    expect(await thrown(connector.write('contacts', titled(ids)))).toBeInstanceOf(ConfigError)
    expect(JSON.stringify(problems)).not.toContain(hubspot.token)
  })

  test('an expired OAuth token is renewed once for all calls that wait', async () => {
    const hubspot = await standIn()
    const ids = contacts(hubspot, 300)
    const connector = await ready(hubspot, { oauth: true })
    const refreshes = (): number => hubspot.stats().byPath['POST /oauth/2026-03/token'] ?? 0
    expect(refreshes()).toBe(1)
    hubspot.auth.expireTokens()
    const reads = await Promise.all([1, 2, 3, 4].map(() => connector.read('contacts', ids)))
    expect(reads.every((read) => read.size === 300)).toBe(true)
    expect(refreshes()).toBe(2)
    expect(await connector.check()).toMatchObject({ account: { id: '62515' }, missingScopes: [] })
  })

  test('an OAuth token that is not renewed any more is a problem with what to do', async () => {
    const hubspot = await standIn()
    const connector = createHubspotConnector({
      oauth: { ...hubspot.auth.oauth, refreshToken: 'gone' },
      baseUrl: hubspot.baseUrl,
      mapping: hubspotMapping,
    })
    open.connectors.push(connector)
    expect((await connector.check()).problems).toMatchObject([
      { code: 'hubspot_refresh_refused', todo: expect.stringContaining('Install the app') },
    ])
  })

  test('every missing scope is named at once, and in mid run', async () => {
    const hubspot = await standIn()
    const ids = contacts(hubspot, 2)
    const connector = await ready(hubspot)
    hubspot.auth.scopes.delete('crm.objects.contacts.write')
    hubspot.auth.scopes.delete('crm.objects.companies.read')
    hubspot.auth.scopes.delete('crm.objects.companies.write')
    hubspot.auth.scopes.delete('crm.schemas.companies.read')
    const { missingScopes, problems } = await connector.check()
    expect(missingScopes).toEqual([
      'crm.objects.companies.read',
      'crm.objects.companies.write',
      'crm.objects.contacts.write',
      'crm.schemas.companies.read',
    ])
    expect(problems).toContainEqual({
      code: 'hubspot_missing_scopes',
      message: 'the HubSpot token lacks crm.objects.contacts.write',
      todo: 'Add it to the scopes of the app, and install or rotate again.',
    })
    expect(await thrown(connector.write('contacts', titled(ids)))).toMatchObject({
      code: 'hubspot_missing_scopes',
      details: { scopes: 'crm.objects.contacts.write' },
    })
  })

  test('a mapping that does not fit is refused with the near names', async () => {
    const hubspot = await standIn()
    const mapping = resolveMapping(hubspotMapping, {
      contacts: { fields: { job_title: 'job_titel', about: 'hubspotscore' }, identity: { email: ['emial'] } },
    })
    const connector = connect(hubspot, { mapping })
    const messages = (await connector.check()).problems.map(({ message }) => message)
    expect(messages).toEqual(
      expect.arrayContaining([
        'mapping.contacts.fields.job_title: the CRM has no property "job_titel" (near: jobtitle)',
        expect.stringContaining('the property "hubspotscore" is read-only'),
        expect.stringMatching(/identity\.email: the CRM has no property "emial" \(near: email/),
      ]),
    )
    expect(await thrown(connector.read('contacts', ['1']))).toMatchObject({ code: 'hubspot_mapping' })
  })

  test('the scope to create our fields is missed only while there is something to create', async () => {
    const hubspot = await standIn()
    hubspot.auth.scopes.delete('crm.schemas.contacts.write')
    const connector = connect(hubspot)
    const { missingScopes, problems } = await connector.check()
    expect(missingScopes).toEqual(['crm.schemas.contacts.write'])
    expect(problems.map(({ todo }) => todo)).toContainEqual(
      expect.stringContaining('Add the scope crm.schemas.contacts.write'),
    )
    expect(await thrown(connector.ensureFields('contacts', { dryRun: false }))).toMatchObject({
      code: 'hubspot_missing_scopes',
    })
    hubspot.auth.scopes.add('crm.schemas.contacts.write')
    for (const entity of ['contacts', 'companies']) await connector.ensureFields(entity, { dryRun: false })
    hubspot.auth.scopes.delete('crm.schemas.contacts.write')
    expect(await connector.check()).toMatchObject({ missingScopes: [], problems: [] })
  })

  test('own fields of another kind are a conflict and are left alone', async () => {
    const hubspot = await standIn()
    const { contacts: properties } = hubspot.store.registry.properties
    properties.set('paydirt_enriched_at', { ...properties.get('company')!, name: 'paydirt_enriched_at' })
    const ensured = await connect(hubspot).ensureFields('contacts', { dryRun: false })
    expect(ensured.find(({ name }) => name === 'paydirt_enriched_at')).toMatchObject({ status: 'conflict' })
    expect(ensured.filter(({ status }) => status === 'created')).toHaveLength(2)
    expect(hubspot.store.registry.groups.contacts.has('paydirt')).toBe(true)
  })
})

describe('limits', () => {
  const waits = (): { sleep: (ms: number) => Promise<void>; waited: number[] } => {
    const waited: number[] = []
    return { waited, sleep: async (ms) => void waited.push(ms) }
  }

  test('a spent day is a delay until the account’s midnight, and no try', async () => {
    const hubspot = await standIn({ now: () => noon })
    contacts(hubspot, 2)
    const { sleep, waited } = waits()
    const connector = connect(hubspot, { now: () => noon, sleep })
    await connector.check()
    hubspot.faults.limit('DAILY')
    const error = await thrown(connector.read('contacts', ['1']))
    expect(error).toBeInstanceOf(RetriableError)
    expect(error).toMatchObject({ code: 'hubspot_daily_limit', countsAsTry: false })
    // By the account's own word the day turns at 00:00 UTC; and a little later, for clocks differ.
    expect((error as RetriableError).retryAfterMs).toBe(12 * 3_600_000 + 30_000)
    expect((await connector.check()).problems).toMatchObject([
      { code: 'hubspot_daily_limit', todo: expect.stringContaining('721 minutes') },
    ])
    // Another read sends nothing meanwhile, and does not wait.
    const before = hubspot.stats().requests
    expect(await thrown(connector.read('contacts', ['1']))).toBeInstanceOf(RetriableError)
    expect(hubspot.stats().requests).toBe(before)
    expect(waited).toEqual([])
  })

  test('the midnight is the one of the account’s time zone where nothing else is told', async () => {
    const hubspot = await standIn({ now: () => noon })
    const connector = connect(hubspot, { now: () => noon, oauth: true })
    await connector.read('contacts', ['1'])
    hubspot.faults.limit('DAILY')
    const error = await thrown(connector.read('contacts', ['1']))
    // Berlin is an hour ahead of UTC in November.
    expect((error as RetriableError).retryAfterMs).toBe(11 * 3_600_000 + 30_000)
  })

  test('short limits, locks and a move between data centres are waited for', async () => {
    const hubspot = await standIn()
    const [id = ''] = contacts(hubspot, 1)
    const { sleep, waited } = waits()
    const connector = connect(hubspot, { sleep, budget: budgetThatOnlyHears([]) })
    await connector.read('contacts', [id])
    hubspot.faults.limit('TEN_SECONDLY_ROLLING')
    hubspot.faults.lock()
    hubspot.faults.migrate(7)
    expect((await connector.read('contacts', [id])).get(id)).toMatchObject({ state: 'present' })
    expect(waited).toHaveLength(3)
    expect(waited[0]).toBe(2000)
    expect(waited[1]).toBeGreaterThanOrEqual(2000)
    expect(waited[2]).toBe(7000)
  })

  test('what lasts longer than a call may wait is given back with the time, and no try', async () => {
    const hubspot = await standIn()
    contacts(hubspot, 1)
    const { sleep } = waits()
    const connector = connect(hubspot, { sleep, patienceMs: 5000 })
    await connector.read('contacts', ['1'])
    hubspot.faults.migrate(120)
    expect(await thrown(connector.read('contacts', ['1']))).toMatchObject({
      code: 'hubspot_migrating',
      retryAfterMs: 120_000,
      countsAsTry: false,
    })
  })

  test('the policy’s name decides which limit is closed, and for whom', async () => {
    const heard: string[] = []
    const hubspot = await standIn()
    contacts(hubspot, 3)
    const { sleep } = waits()
    const connector = connect(hubspot, { sleep, budget: budgetThatOnlyHears(heard) })
    await connector.read('contacts', ['1'])
    hubspot.faults.limit('SECONDLY')
    hubspot.faults.limit('TEN_SECONDLY_ROLLING')
    await connector.read('contacts', ['1'])
    expect(heard).toEqual(['hubspot:62515 search 1000', 'hubspot:62515 ten_seconds 2000'])
  })

  test('three connectors with one budget keep to the limits of one account', async () => {
    // Each with a budget of its own would send two searches at once: six, where four pass.
    const hubspot = await standIn({ limits: { perTenSeconds: 40, searchPerSecond: 4 } })
    contacts(hubspot, 20)
    const budget = createMemoryCallBudget()
    const all = [1, 2, 3].map(() =>
      connect(hubspot, { budget, limits: { searchPerSecond: 2, perTenSeconds: 30 } }),
    )
    await Promise.all(all.map((connector) => connector.describe('contacts')))
    const walk = async (connector: Connector): Promise<number> => {
      let count = 0
      for await (const page of connector.scan('contacts', { since: new Date(0), limit: 4 }))
        count += page.records.length
      return count
    }
    expect(await Promise.all([...all, ...all].map(walk))).toEqual([4, 4, 4, 4, 4, 4])
    expect(hubspot.stats().rateLimited).toBe(0)
  })

  test('an answer that does not come is ended, not only given up', async () => {
    const closed = Promise.withResolvers<void>()
    let requests = 0
    const silent = createServer((request) => {
      requests += 1
      request.socket.once('close', () => closed.resolve())
    })
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const connector = createHubspotConnector({
      accessToken: 'x',
      baseUrl: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
      mapping: hubspotMapping,
      timeoutMs: 50,
      sleep: async () => {},
    })
    try {
      expect(await thrown(connector.read('contacts', ['1']))).toMatchObject({ code: 'hubspot_timeout' })
      await closed.promise
      expect(requests).toBeGreaterThanOrEqual(3)
    } finally {
      await connector.close()
      silent.closeAllConnections()
      silent.close()
    }
  })
})
