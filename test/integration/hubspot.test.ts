import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { createMemoryCallBudget } from '../../src/connectors/budget.ts'
import type { Connector, RecordPatch, ScanPage, Watermark } from '../../src/connectors/connector.ts'
import {
  createHubspotConnector,
  type HubspotConnectorOptions,
} from '../../src/connectors/hubspot/hubspot-connector.ts'
import { ConfigError, RetriableError } from '../../src/domain/errors.ts'
import { hubspotMapping } from '../../src/connectors/hubspot/mapping.ts'
import { resolveMapping } from '../../src/domain/mapping/schema.ts'
import {
  startHubspotStandIn,
  type HubspotStandIn,
  type HubspotStandInOptions,
} from '../../src/sandbox/hubspot/index.ts'
import { testSeed } from '../support/seed.ts'

const seed = testSeed()
const noon = Date.UTC(2026, 10, 20, 12, 0, 0)
const roomy = { searchPerSecond: 100_000, perTenSeconds: 100_000 }

const open: { connectors: Connector[]; standIns: HubspotStandIn[] } = { connectors: [], standIns: [] }
afterEach(async () => {
  for (const connector of open.connectors.splice(0)) await connector.close()
  for (const standIn of open.standIns.splice(0)) await standIn.stop()
})

async function standIn(options: HubspotStandInOptions = {}): Promise<HubspotStandIn> {
  const started = await startHubspotStandIn({ seed, companies: 10, contacts: 0, limits: roomy, ...options })
  open.standIns.push(started)
  return started
}

type Options = Partial<Omit<HubspotConnectorOptions, 'accessToken' | 'oauth'>>

function connect(hubspot: HubspotStandIn, options: Options & { oauth?: boolean } = {}): Connector {
  const { oauth = false, ...rest } = options
  const connector = createHubspotConnector({
    ...(oauth ? { oauth: hubspot.auth.oauth } : { accessToken: hubspot.token }),
    baseUrl: hubspot.baseUrl,
    mapping: hubspotMapping,
    limits: { searchPerSecond: 100_000 },
    ...rest,
  })
  open.connectors.push(connector)
  return connector
}

async function ready(
  hubspot: HubspotStandIn,
  options: Parameters<typeof connect>[1] = {},
): Promise<Connector> {
  const connector = connect(hubspot, options)
  await connector.ensureFields('contacts', { dryRun: false })
  return connector
}

function contacts(hubspot: HubspotStandIn, count: number): string[] {
  return hubspot.store.seed('contacts', { count, modifiedAtMs: noon - 86_400_000 }).map(({ id }) => id)
}

function titled(ids: readonly string[], title = 'Pilot'): RecordPatch[] {
  return ids.map((id) => ({ id, patch: { job_title: { set: title } } }))
}

async function thrown(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  )
}

describe('a scan of 25,000 contacts, 12,000 of them with one stamp', () => {
  const oneStamp = noon - 3_600_000
  const world = async (): Promise<{ hubspot: HubspotStandIn; ids: string[] }> => {
    const hubspot = await standIn({ now: () => noon })
    hubspot.store.seed('contacts', { count: 7000, modifiedAtMs: (index) => noon - 7_200_000 + index })
    hubspot.store.seed('contacts', { count: 12_000, modifiedAtMs: oneStamp })
    hubspot.store.seed('contacts', { count: 6000, modifiedAtMs: (index) => noon - 1_800_000 + (index % 97) })
    return { hubspot, ids: [...hubspot.store.list('contacts')].map(({ id }) => id) }
  }
  const sorted = (ids: string[]): string[] => ids.sort((a, b) => Number(a) - Number(b))

  test.each([
    ['by list, the first time', {}],
    ['by search, since a time', { since: new Date(noon - 86_400_000) }],
  ])('visits each exactly once: %s', async (_, begin) => {
    const { hubspot, ids } = await world()
    const seen: string[] = []
    for await (const page of connect(hubspot, { now: () => noon }).scan('contacts', begin))
      seen.push(...page.records.map(({ id }) => id))
    expect(seen).toHaveLength(25_000)
    expect(sorted(seen)).toEqual(ids)
  })

  test.each([
    ['by list', {}],
    ['by search', { since: new Date(noon - 86_400_000) }],
  ])('visits each exactly once when it is broken off three times: %s', async (_, begin) => {
    const { hubspot, ids } = await world()
    const seen: string[] = []
    let after: Watermark | undefined
    let breaks = 0
    for (let walking = true; walking;) {
      walking = false
      // Another process: nothing is left of the one before but the last stored watermark.
      const connector = connect(hubspot, { now: () => noon + breaks * 60_000 })
      for await (const page of connector.scan('contacts', after === undefined ? begin : { after })) {
        // Broken off between reading a page and storing it: that page counts for nothing.
        if (breaks < 3 && seen.length >= 6000 * (breaks + 1)) {
          breaks += 1
          walking = true
          break
        }
        seen.push(...page.records.map(({ id }) => id))
        after = page.watermark
      }
      await connector.close()
    }
    expect(breaks).toBe(3)
    expect(seen).toHaveLength(25_000)
    expect(sorted(seen)).toEqual(ids)
  })

  test('reads only the changed window the second time, and knows its own writes in it', async () => {
    const { hubspot } = await world()
    let nowMs = noon
    const connector = await ready(hubspot, { now: () => nowMs })
    let after: Watermark | undefined
    for await (const page of connector.scan('contacts', {})) after = page.watermark
    const ids = contacts(hubspot, 0).concat(
      [...hubspot.store.list('contacts')].slice(100, 350).map(({ id }) => id),
    )
    expect((await connector.write('contacts', titled(ids))).every(({ status }) => status === 'written')).toBe(
      true,
    )
    nowMs += 60_000
    const pages: ScanPage[] = []
    for await (const page of connector.scan('contacts', { after: after! })) pages.push(page)
    const changed = pages.flatMap((page) => page.records.map(({ id }) => id))
    const own = pages.flatMap((page) => [...page.ownWrites!])
    expect(sorted(own)).toEqual(sorted(ids))
    // The lookback reaches ten minutes behind the youngest change that the first scan saw: 29 minutes before noon.
    expect(changed.length).toBe(250 + 6000)
  })
})

describe('increments', () => {
  test('find what changed while the last scan went on, and what the index did not show then', async () => {
    let nowMs = noon
    const hubspot = await standIn({ now: () => nowMs })
    contacts(hubspot, 450)
    const [first = '', second = '', late = ''] = [...hubspot.store.list('contacts')].map(({ id }) => id)
    // The youngest stamp that the first scan sees: the increment begins ten minutes before it.
    const young = [...hubspot.store.list('contacts')][20]!.id
    hubspot.store.stamp('contacts', young, noon - 1000)
    const connector = connect(hubspot, { now: () => nowMs })
    const seen: string[] = []
    let after: Watermark | undefined
    for await (const page of connector.scan('contacts', {})) {
      seen.push(...page.records.map(({ id }) => id))
      after = page.watermark
      nowMs += 1000
      // The first two stand on the first page: they change behind the scan's back.
      if (seen.length === 100) hubspot.store.edit('contacts', first, { jobtitle: 'Changed' })
      if (seen.length === 200) hubspot.store.edit('contacts', second, { jobtitle: 'Changed' })
    }
    expect(new Set(seen).size).toBe(450)
    hubspot.faults.indexLagMs = 20_000
    hubspot.store.edit('contacts', late, { jobtitle: 'Changed' })
    nowMs += 1000
    const increment = async (): Promise<string[]> => {
      const ids: string[] = []
      for await (const page of connector.scan('contacts', { after: after! })) {
        ids.push(...page.records.map(({ id }) => id))
        after = page.watermark
      }
      return ids
    }
    expect(await increment()).toEqual([first, second, young])
    nowMs += 60_000
    expect(await increment()).toContain(late)
    // With nothing new the window does not move back, nor past what could still come.
    const stands = after
    nowMs += 60_000
    await increment()
    expect(after).toBe(stands)
  })

  test('leave what changes ahead of the scan to the next window, so that each change is seen once', async () => {
    let nowMs = noon
    const hubspot = await standIn({ now: () => nowMs })
    const ids = contacts(hubspot, 450)
    const connector = connect(hubspot, { now: () => nowMs, lookbackMs: 0 })
    const seen: string[] = []
    let after: Watermark | undefined
    for await (const page of connector.scan('contacts', { since: new Date(0) })) {
      seen.push(...page.records.map(({ id }) => id))
      after = page.watermark
      nowMs += 1000
      if (seen.length === 200) hubspot.store.edit('contacts', ids[440]!, { jobtitle: 'Changed' })
    }
    expect(seen).toEqual(ids.filter((_, at) => at !== 440))
    const next: string[] = []
    for await (const page of connector.scan('contacts', { after: after! }))
      next.push(...page.records.map(({ id }) => id))
    expect(next).toContain(ids[440])
  })

  test('hand out what meets the filter, and count only that against the limit', async () => {
    const hubspot = await standIn({ now: () => noon })
    const ids = contacts(hubspot, 300)
    const wanted = ids.filter((_, at) => at % 10 === 0)
    for (const id of ids) hubspot.store.edit('contacts', id, { jobtitle: '', lifecyclestage: 'lead' })
    for (const id of wanted) hubspot.store.edit('contacts', id, { lifecyclestage: 'customer' })
    const connector = connect(hubspot, { now: () => noon })
    const filter = [
      { property: 'lifecyclestage', is: 'equal', value: 'Customer' },
      { property: 'jobtitle', is: 'blank' },
    ] as const
    for (const begin of [{}, { since: new Date(0) }]) {
      const found: string[] = []
      for await (const page of connector.scan('contacts', { ...begin, filter, limit: 12 }))
        found.push(...page.records.map(({ id }) => id))
      expect(found).toEqual(wanted.slice(0, 12))
    }
    const unknown = connector.scan('contacts', { filter: [{ property: 'lifecyclestages', is: 'filled' }] })
    expect(await thrown(unknown[Symbol.asyncIterator]().next())).toMatchObject({
      code: 'bad_filter',
      message: expect.stringContaining('near: lifecyclestage'),
    })
  })
})

describe('reading', () => {
  test('does not take a record that could not be read for one that is gone', async () => {
    const hubspot = await standIn()
    const ids = contacts(hubspot, 2)
    const connector = connect(hubspot)
    const failed = { status: 'error', category: 'INTERNAL_ERROR', message: 'x', context: { ids: [ids[1]] } }
    hubspot.faults.inject({
      kind: 'answer',
      status: 207,
      path: /batch\/read/,
      body: { status: 'COMPLETE', results: [], numErrors: 1, errors: [failed] },
    })
    expect(await thrown(connector.read('contacts', ids))).toMatchObject({ code: 'hubspot_read_failed' })
    hubspot.store.archive('contacts', ids[0]!)
    const read = await connector.read('contacts', [...ids, 'someone@norvik.com'])
    expect([...read.values()].map(({ state }) => state)).toEqual(['gone', 'present', 'gone'])
  })

  test('of associations answers the companies of contacts, the primary one marked', async () => {
    const hubspot = await standIn({ companies: 3 })
    const [first = '', second = ''] = contacts(hubspot, 8)
    const [company = '', other = ''] = [...hubspot.store.list('companies')].map(({ id }) => id)
    const loner = hubspot.store.add('contacts', { properties: { lastname: 'Meyer' } }).id
    const plain = hubspot.store.add('contacts', { properties: { lastname: 'Rossi' } }).id
    hubspot.store.associate(plain, company)
    hubspot.store.associate(plain, other)
    const found = await connect(hubspot).associations('contacts', 'companies', [loner, plain, first, second])
    expect([...found.keys()]).toEqual([loner, plain, first, second])
    expect(found.get(loner)).toEqual([])
    expect(found.get(plain)).toEqual([
      { id: company, primary: true },
      { id: other, primary: false },
    ])
    const back = await connect(hubspot).associations('companies', 'contacts', [company])
    expect(back.get(company)!.map(({ id }) => id)).toContain(plain)
  })
})

describe('writing', () => {
  test('a batch of 100 with three bad records writes 97 and names the three with code and field', async () => {
    const hubspot = await standIn()
    const ids = contacts(hubspot, 100)
    const mapping = resolveMapping(hubspotMapping, {
      contacts: { fields: { about: 'email', headline: { property: 'hs_persona', as: 'text' } } },
    })
    const connector = await ready(hubspot, { mapping })
    const owner = [...hubspot.store.list('contacts')].find((record) => record.properties.email)
    const patches = titled(ids)
    const taken = patches.findIndex(({ id }) => id !== owner!.id && id !== ids[5] && id !== ids[77])
    patches[5]!.patch['about'] = { set: 'someone@norvik.con' }
    patches[77]!.patch['about'] = { set: 'someone@norvik.invalid' }
    patches[taken]!.patch['about'] = { set: owner!.properties.email! }
    const before = hubspot.stats().requests
    const results = await connector.write('contacts', patches)
    expect(results.map(({ id }) => id)).toEqual(ids)
    expect(results.filter(({ status }) => status === 'written')).toHaveLength(97)
    const refused = (code: string): object =>
      expect.objectContaining({ status: 'rejected', code, field: 'about' })
    expect([results[5], results[77], results[taken]]).toEqual([
      refused('INVALID_EMAIL'),
      refused('INVALID_EMAIL'),
      refused('CONFLICT'),
    ])
    for (const id of ids)
      expect(hubspot.store.get('contacts', id)?.properties.jobtitle === 'Pilot').toBe(
        ![ids[5], ids[77], ids[taken]].includes(id),
      )
    // Halving: about two calls for each halving down to each bad record, not one for each record.
    expect(hubspot.stats().requests - before).toBeLessThan(50)
    expect(JSON.stringify(results)).not.toMatch(/norvik|@/)
  })

  test('failures of a 207 are matched by trace id, whatever else they name', async () => {
    const hubspot = await standIn()
    hubspot.faults.batchErrors = 'each'
    const ids = contacts(hubspot, 6)
    const mapping = resolveMapping(hubspotMapping, { contacts: { fields: { about: 'email' } } })
    const connector = await ready(hubspot, { mapping })
    hubspot.faults.failingRecords.set(ids[1]!, { category: 'OBJECT_LOCKED', message: 'locked by a rule' })
    hubspot.faults.failingRecords.set(ids[2]!, { category: 'RATE_LIMITS', message: 'later' })
    hubspot.store.archive('contacts', ids[3]!)
    const patches = titled(ids)
    patches[4]!.patch['about'] = { set: 'x@norvik.con' }
    const results = await connector.write('contacts', patches)
    expect(results.map(({ id, status }) => [id, status])).toEqual([
      [ids[0], 'written'],
      [ids[1], 'rejected'],
      [ids[2], 'retry'],
      [ids[3], 'skipped'],
      [ids[4], 'rejected'],
      [ids[5], 'written'],
    ])
    expect(results[1]).toMatchObject({ code: 'OBJECT_LOCKED' })
    // Of this one HubSpot names no id, and its code and property only within a text that quotes the value.
    expect(results[4]).toMatchObject({ code: 'INVALID_EMAIL', field: 'about' })
    expect(JSON.stringify(results)).not.toContain('norvik')
  })

  test('failures of a 207 that name the id alone are matched by it', async () => {
    const hubspot = await standIn()
    const ids = contacts(hubspot, 2)
    const connector = await ready(hubspot)
    const failed = { status: 'error', category: 'FORBIDDEN_FIELD', message: 'x', context: { ids: [ids[0]] } }
    hubspot.faults.inject({
      kind: 'answer',
      status: 207,
      path: /batch\/update/,
      body: { status: 'COMPLETE', results: [{ id: ids[1], properties: {} }], numErrors: 1, errors: [failed] },
    })
    expect(await connector.write('contacts', titled(ids))).toMatchObject([
      { id: ids[0], status: 'rejected', code: 'FORBIDDEN_FIELD' },
      { id: ids[1], status: 'written' },
    ])
  })

  test('a record that was merged meanwhile, one patched twice, and an id that is none', async () => {
    const hubspot = await standIn()
    const [a = '', b = '', c = ''] = contacts(hubspot, 3)
    const connector = await ready(hubspot)
    hubspot.store.merge('contacts', a, b)
    const results = await connector.write('contacts', [
      ...titled([b], 'First'),
      ...titled([c], 'First'),
      ...titled([c], 'Second'),
      ...titled(['someone@norvik.com']),
    ])
    expect(results.map(({ status }) => status)).toEqual(['written', 'written', 'written', 'rejected'])
    expect(hubspot.store.get('contacts', a)?.properties.jobtitle).toBe('First')
    expect(hubspot.store.get('contacts', c)?.properties.jobtitle).toBe('Second')
  })

  test('a day that ends in mid way leaves what is written and gives the rest back', async () => {
    const hubspot = await standIn({ now: () => noon })
    const ids = contacts(hubspot, 250)
    const connector = await ready(hubspot, { now: () => noon })
    await connector.read('contacts', ids.slice(0, 1))
    // One batch goes through, the second finds the day spent.
    hubspot.faults.inject({ kind: 'answer', status: 500, times: 1, path: /batch\/update/ })
    hubspot.limiter.setUsedToday(650_000 - 1)
    const results = await connector.write('contacts', titled(ids))
    const written = results.filter(({ status }) => status === 'written')
    expect(written).toHaveLength(100)
    const retry = results.filter((result) => result.status === 'retry')
    expect(retry).toHaveLength(150)
    expect(retry[0]!.afterMs).toBeGreaterThanOrEqual(12 * 3_600_000)
    expect(retry[0]!.afterMs).toBeLessThan(12 * 3_600_000 + 120_000)
    for (const [at, id] of ids.entries())
      expect(hubspot.store.get('contacts', id)?.properties.jobtitle === 'Pilot').toBe(at < 100)
  })

  test('a property that is deleted in mid run stops the writing, and is named with the near names', async () => {
    const hubspot = await standIn()
    const ids = contacts(hubspot, 3)
    const connector = await ready(hubspot)
    await connector.write('contacts', titled(ids.slice(0, 1)))
    hubspot.store.registry.properties.contacts.delete('jobtitle')
    hubspot.store.registry.properties.contacts.set('job_title', {
      ...hubspot.store.registry.properties.contacts.get('company')!,
      name: 'job_title',
    })
    const error = await thrown(connector.write('contacts', titled(ids)))
    expect(error).toBeInstanceOf(ConfigError)
    expect((error as Error).message).toContain('"jobtitle" (near: job_title')
  })

  test('before our own fields exist is refused, and says which are lacking', async () => {
    const hubspot = await standIn()
    const ids = contacts(hubspot, 3)
    const error = await thrown(connect(hubspot).write('contacts', titled(ids)))
    expect(error).toMatchObject({
      code: 'hubspot_own_fields',
      message: expect.stringContaining('paydirt_status, paydirt_enriched_at, paydirt_source'),
    })
    for (const id of ids) expect(hubspot.store.get('contacts', id)?.properties.jobtitle).not.toBe('Pilot')
  })

  test('a connection that breaks after the write is repeated, and changes nothing more', async () => {
    const hubspot = await standIn()
    const ids = contacts(hubspot, 2)
    const connector = await ready(hubspot, { sleep: async () => {} })
    hubspot.faults.inject({ kind: 'drop-after', path: /batch\/update/ })
    hubspot.faults.inject({ kind: 'answer', status: 502, path: /batch\/update/ })
    expect((await connector.write('contacts', titled(ids))).map(({ status }) => status)).toEqual([
      'written',
      'written',
    ])
  })
})

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
    hubspot.auth.scopes.delete('crm.schemas.companies.read')
    const { missingScopes, problems } = await connector.check()
    expect(missingScopes).toEqual([
      'crm.objects.companies.read',
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
    // Nobody asks again meanwhile, and nothing was waited for.
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

function budgetThatOnlyHears(heard: string[]): ReturnType<typeof createMemoryCallBudget> {
  return {
    take: async () => ({ waitMs: 0 }),
    close: async (account, limit, forMs) => void heard.push(`${account} ${limit} ${forMs}`),
    learn: async () => {},
  }
}
