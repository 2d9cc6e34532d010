import { generateKeyPairSync, sign } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startHubspotStandIn, type HubspotStandIn } from '../../src/sandbox/hubspot/index.ts'
import { startSalesforceStandIn, type SalesforceStandIn } from '../../src/sandbox/salesforce/index.ts'
import { testSeed } from '../support/seed.ts'

// A fixed clock that tests move: limits, stamps and expiry then happen when told to.
const START_MS = Date.UTC(2026, 10, 20, 12, 0, 0, 123)
let nowMs = START_MS
const now = (): number => nowMs
const seed = testSeed()

interface Reply {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- shapes are what these tests are about
  readonly body: any
  readonly headers: Headers
}

async function send(
  base: string,
  token: string,
  method: string,
  path: string,
  body?: unknown,
  more = {},
): Promise<Reply> {
  const response = await fetch(base + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...more },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json')
  return { status: response.status, body: isJson ? JSON.parse(text) : text, headers: response.headers }
}

describe('the HubSpot stand-in', () => {
  let hubspot: HubspotStandIn
  const call = (method: string, path: string, body?: unknown): Promise<Reply> =>
    send(hubspot.baseUrl, hubspot.token, method, path, body)
  const search = (type: string, body: object): Promise<Reply> =>
    call('POST', `/crm/v3/objects/${type}/search`, body)
  const update = (inputs: readonly object[], type = 'contacts'): Promise<Reply> =>
    call('POST', `/crm/objects/2026-09/${type}/batch/update`, { inputs })
  const read = (ids: readonly string[], properties: readonly string[], type = 'contacts'): Promise<Reply> =>
    call('POST', `/crm/objects/2026-09/${type}/batch/read`, { inputs: ids.map((id) => ({ id })), properties })
  const firstIds = (count: number, type: 'contacts' | 'companies' = 'contacts'): string[] =>
    [...hubspot.store.list(type)].slice(0, count).map((record) => record.id)

  beforeEach(async () => {
    nowMs = START_MS
    hubspot = await startHubspotStandIn({
      seed,
      companies: 40,
      contacts: 60,
      now,
      limits: { perTenSeconds: 1000 },
    })
  })
  afterEach(() => hubspot.stop())

  test('has the same records for the same seed, dirty and of every kind', async () => {
    const other = await startHubspotStandIn({ seed, companies: 40, contacts: 60, now })
    try {
      expect([...other.store.list('contacts')]).toEqual([...hubspot.store.list('contacts')])
      expect([...other.store.list('companies')]).toEqual([...hubspot.store.list('companies')])
    } finally {
      await other.stop()
    }
    const companies = [...hubspot.store.list('companies')].map((record) => record.properties)
    expect(companies.some((company) => company.domain === undefined)).toBe(true)
    expect(companies.some((company) => /profnet\.com\/company\//i.test(company.profnet_url ?? ''))).toBe(true)
    expect(companies.some((company) => company.profnet_url === undefined)).toBe(true)
  })

  test('lists every record once, a page after another, under both path versions', async () => {
    for (const prefix of ['/crm/v3/objects', '/crm/objects/2026-09']) {
      const seen: string[] = []
      let after: string | undefined
      do {
        const { body } = await call(
          'GET',
          `${prefix}/contacts?limit=25&properties=email,phone${after ? `&after=${after}` : ''}`,
        )
        seen.push(...body.results.map((record: { id: string }) => record.id))
        after = body.paging?.next?.after
      } while (after)
      expect(seen).toEqual(firstIds(60))
    }
  })

  test('answers records in the shape of the API, all values text or null', async () => {
    const [id = ''] = firstIds(1, 'companies')
    hubspot.store.edit('companies', id, { numberofemployees: '12', phone: '' })
    const { body } = await call(
      'GET',
      `/crm/v3/objects/companies/${id}?properties=numberofemployees,phone,nonsense`,
    )
    expect(body).toEqual({
      id,
      properties: {
        numberofemployees: '12',
        phone: null,
        createdate: expect.stringMatching(/^\d{4}-.*Z$/),
        hs_object_id: id,
        hs_lastmodifieddate: new Date(nowMs).toISOString(),
      },
      createdAt: expect.any(String),
      updatedAt: new Date(nowMs).toISOString(),
      archived: false,
    })
  })

  test('searches a window of stamps and ids in numeric order', async () => {
    const { body } = await search('contacts', {
      filterGroups: [
        {
          filters: [
            { propertyName: 'lastmodifieddate', operator: 'GTE', value: '0' },
            { propertyName: 'lastmodifieddate', operator: 'LTE', value: String(nowMs) },
            { propertyName: 'hs_object_id', operator: 'GTE', value: String(Number(firstIds(11)[10])) },
          ],
        },
      ],
      sorts: ['hs_object_id'],
      properties: ['email'],
      limit: 200,
      after: '0',
    })
    expect(body.total).toBe(50)
    expect(body.results.map((record: { id: string }) => record.id)).toEqual(firstIds(60).slice(10))
    expect(body.paging).toBeUndefined()
  })

  test.each([
    ['a page past the 10,000th result', { limit: 200, after: '9900' }],
    ['more than 200 results a page', { limit: 201 }],
    ['a body above 3,000 characters', { query: 'x'.repeat(3000) }],
    ['two sorts', { sorts: ['hs_object_id', 'createdate'] }],
    [
      'an unknown property',
      { filterGroups: [{ filters: [{ propertyName: 'nope', operator: 'EQ', value: '1' }] }] },
    ],
    [
      'an unknown operator',
      { filterGroups: [{ filters: [{ propertyName: 'email', operator: 'LIKE', value: '1' }] }] },
    ],
  ])('refuses a search with %s', async (_, body) => {
    expect(await search('contacts', body)).toMatchObject({
      status: 400,
      body: { status: 'error', category: 'VALIDATION_ERROR', correlationId: expect.any(String) },
    })
  })

  test('reaches only 10,000 of more records with one stamp, and all of them by id', async () => {
    hubspot.store.seed('contacts', { count: 12_000, modifiedAtMs: nowMs - 1000 })
    const window = (fromId: number, after: number): object => ({
      filterGroups: [
        {
          filters: [
            { propertyName: 'lastmodifieddate', operator: 'EQ', value: String(nowMs - 1000) },
            { propertyName: 'hs_object_id', operator: 'GTE', value: String(fromId) },
          ],
        },
      ],
      sorts: ['hs_object_id'],
      limit: 200,
      after: String(after),
    })
    const last = await search('contacts', window(0, 9800))
    expect(last.body).toMatchObject({ total: 12_000, paging: { next: { after: '10000' } } })
    expect((await search('contacts', window(0, 10_000))).status).toBe(400)
    const lastId = Number(last.body.results.at(-1).id)
    expect((await search('contacts', window(lastId + 1, 0))).body.total).toBe(2000)
  })

  test('leaves archived records out of search, and shows changes only after the index lag', async () => {
    const [archived = '', edited = ''] = firstIds(2)
    hubspot.store.archive('contacts', archived)
    const changed = {
      filterGroups: [{ filters: [{ propertyName: 'jobtitle', operator: 'EQ', value: 'Pilot' }] }],
    }
    expect((await search('contacts', {})).body.total).toBe(59)
    hubspot.faults.indexLagMs = 5000
    hubspot.store.edit('contacts', edited, { jobtitle: 'Pilot' })
    expect((await search('contacts', changed)).body.total).toBe(0)
    expect((await read([edited], ['jobtitle'])).body.results[0].properties.jobtitle).toBe('Pilot')
    nowMs += 5000
    expect((await search('contacts', changed)).body.total).toBe(1)
  })

  test('writes a batch, trims nothing it was not told, and answers in an order of its own', async () => {
    const [a = '', b = ''] = firstIds(2)
    nowMs += 1
    const reply = await update([
      { id: b, properties: { jobtitle: 'B' }, objectWriteTraceId: 'tb' },
      { id: a, properties: { jobtitle: 'A', phone: '' }, objectWriteTraceId: 'ta' },
    ])
    expect(reply.status).toBe(200)
    expect(reply.body).toMatchObject({
      status: 'COMPLETE',
      results: [
        { id: a, objectWriteTraceId: 'ta', properties: { jobtitle: 'A', phone: null } },
        { id: b, objectWriteTraceId: 'tb', properties: { lastmodifieddate: new Date(nowMs).toISOString() } },
      ],
    })
    expect(hubspot.store.get('contacts', a)?.properties).not.toHaveProperty('phone')
  })

  test.each([
    ['PROPERTY_DOESNT_EXIST', { nope: 'x' }],
    ['READ_ONLY_VALUE', { hs_object_id: '1' }],
    ['INVALID_OPTION', { lifecyclestage: 'Lead' }],
    ['INVALID_EMAIL', { email: 'a@b.con' }],
    ['INVALID_EMAIL', { email: 'not an address' }],
    ['INVALID_INTEGER', { associatedcompanyid: ' 5' }],
    ['INVALID_DATE', { closedate: 'yesterday' }],
  ])('refuses a whole batch with %s, naming the property and not the record', async (code, properties) => {
    const [good = '', bad = ''] = firstIds(2)
    const before = structuredClone(hubspot.store.get('contacts', good))
    const reply = await update([
      { id: good, properties: { jobtitle: 'Good' } },
      { id: bad, properties },
    ])
    expect(reply).toMatchObject({
      status: 400,
      body: {
        category: 'VALIDATION_ERROR',
        errors: [{ code, context: { propertyName: Object.keys(properties) } }],
      },
    })
    expect(reply.body.message).toContain(`"error":"${code}"`)
    expect(hubspot.store.get('contacts', good)).toEqual(before)
  })

  test('fails single records in a 207 by switch, matched by trace id', async () => {
    hubspot.faults.batchErrors = 'each'
    const ids = firstIds(4)
    const owner = [...hubspot.store.list('contacts')].slice(4).find((record) => record.properties.email)
    hubspot.faults.failingRecords.set(ids[3] as string, {
      category: 'OBJECT_LOCKED',
      message: 'locked by a rule',
    })
    const reply = await update([
      { id: ids[0], properties: { jobtitle: 'ok' }, objectWriteTraceId: 't0' },
      { id: ids[1], properties: { email: 'x@y.invalid' }, objectWriteTraceId: 't1' },
      { id: ids[2], properties: { email: owner?.properties.email }, objectWriteTraceId: 't2' },
      { id: ids[3], properties: { jobtitle: 'ok' }, objectWriteTraceId: 't3' },
      { id: '1', properties: { jobtitle: 'ok' }, objectWriteTraceId: 't4' },
    ])
    expect(reply.status).toBe(207)
    expect(reply.body.results.map((result: { id: string }) => result.id)).toEqual([ids[0]])
    expect(reply.body.numErrors).toBe(4)
    expect(reply.body.errors).toEqual([
      expect.objectContaining({
        status: 'error',
        category: 'VALIDATION_ERROR',
        context: { objectWriteTraceId: ['t1'] },
      }),
      expect.objectContaining({
        category: 'CONFLICT',
        message: `Contact already exists. Existing ID: ${owner?.id}`,
      }),
      expect.objectContaining({
        category: 'OBJECT_LOCKED',
        context: { ids: [ids[3]], objectWriteTraceId: ['t3'] },
      }),
      expect.objectContaining({
        category: 'OBJECT_NOT_FOUND',
        context: { ids: ['1'], objectWriteTraceId: ['t4'] },
      }),
    ])
  })

  test('refuses a batch for a duplicate e-mail, an id given twice, and more than 100 inputs', async () => {
    const [a = '', b = ''] = firstIds(2)
    hubspot.store.edit('contacts', b, { email: 'taken@norvik.com' })
    expect(await update([{ id: a, properties: { email: 'Taken@norvik.com' } }])).toMatchObject({
      status: 409,
      body: { category: 'CONFLICT', message: `Contact already exists. Existing ID: ${b}` },
    })
    const twice = { id: a, properties: { jobtitle: 'x' } }
    expect((await update([twice, twice])).body.message).toContain('Duplicate IDs')
    const many = Array.from({ length: 101 }, (_, index) => ({ id: String(index), properties: {} }))
    expect((await update(many)).status).toBe(400)
    expect(
      (
        await read(
          many.map(({ id }) => id),
          [],
        )
      ).status,
    ).toBe(400)
  })

  test('says success and does nothing for an e-mail in place of an id', async () => {
    const reply = await update([{ id: 'someone@norvik.com', properties: { jobtitle: 'x' } }])
    expect(reply).toMatchObject({ status: 200, body: { status: 'COMPLETE', results: [] } })
    const [id = ''] = firstIds(1)
    const byEmail = await update([{ id, idProperty: 'email', properties: { jobtitle: 'x' } }])
    expect(byEmail.body.message).toContain('non-unique')
  })

  test('a null clears nothing or is refused, and empty text clears', async () => {
    const [id = ''] = firstIds(1)
    hubspot.store.edit('contacts', id, { jobtitle: 'Pilot' })
    expect((await update([{ id, properties: { jobtitle: null } }])).status).toBe(200)
    expect(hubspot.store.get('contacts', id)?.properties.jobtitle).toBe('Pilot')
    hubspot.faults.nullValues = 'refused'
    expect((await update([{ id, properties: { jobtitle: null } }])).status).toBe(400)
    expect((await update([{ id, properties: { jobtitle: '' } }])).status).toBe(200)
    expect((await read([id], ['jobtitle'])).body.results[0].properties.jobtitle).toBeNull()
  })

  test('answers a merged id as the winner, and a missing one as an error in a 207', async () => {
    const [winner = '', loser = '', other = ''] = firstIds(3)
    hubspot.store.merge('contacts', winner, loser)
    const reply = await read([winner, loser, other, '7'], ['hs_merged_object_ids'])
    expect(reply.status).toBe(207)
    expect(reply.body.results.map((result: { id: string }) => result.id)).toEqual([winner, other])
    expect(reply.body.results[0].properties.hs_merged_object_ids).toBe(loser)
    expect(reply.body.errors).toMatchObject([{ category: 'OBJECT_NOT_FOUND', context: { ids: ['7'] } }])
    const written = await update([{ id: loser, properties: { jobtitle: 'Winner' } }])
    expect(written.body.results[0].id).toBe(winner)
    expect((await call('GET', `/crm/v3/objects/contacts/${loser}`)).body.id).toBe(winner)
  })

  test('allows 100 requests in any ten seconds, with the headroom in the headers', async () => {
    await hubspot.stop()
    hubspot = await startHubspotStandIn({
      seed,
      companies: 1,
      contacts: 1,
      now,
      limits: { perTenSeconds: 100 },
    })
    const replies = await Promise.all(
      Array.from({ length: 101 }, () => call('GET', '/account-info/v3/details')),
    )
    const refused = replies.filter((reply) => reply.status === 429)
    expect(refused).toHaveLength(1)
    expect(refused[0]?.body).toEqual({
      status: 'error',
      message: 'You have reached your ten_secondly_rolling limit.',
      errorType: 'RATE_LIMIT',
      correlationId: expect.any(String),
      policyName: 'TEN_SECONDLY_ROLLING',
      requestId: expect.any(String),
    })
    expect(refused[0]?.headers.get('x-hubspot-ratelimit-max')).toBe('100')
    expect(refused[0]?.headers.get('x-hubspot-ratelimit-remaining')).toBe('0')
    expect(refused[0]?.headers.get('x-hubspot-ratelimit-interval-milliseconds')).toBe('10000')
    nowMs += 10_000
    expect((await call('GET', '/account-info/v3/details')).status).toBe(200)
    expect(hubspot.stats()).toMatchObject({ requests: 102, rateLimited: 1 })
  })

  test('allows five searches a second, without rate headers, and a daily number of calls', async () => {
    const replies = await Promise.all(Array.from({ length: 6 }, () => search('contacts', { limit: 1 })))
    const refused = replies.filter((reply) => reply.status === 429)
    expect(refused.map((reply) => reply.body.policyName)).toEqual(['SECONDLY'])
    expect(
      replies.flatMap(({ headers }) => [...headers.keys()]).filter((name) => name.includes('ratelimit')),
    ).toEqual([])
    nowMs += 1000
    expect((await search('contacts', { limit: 1 })).status).toBe(200)
    hubspot.limiter.setUsedToday(650_000)
    const daily = await call('GET', '/crm/v3/objects/contacts')
    expect(daily).toMatchObject({ status: 429, body: { policyName: 'DAILY' } })
    expect(daily.headers.get('x-hubspot-ratelimit-daily-remaining')).toBe('0')
    nowMs += 86_400_000
    expect((await call('GET', '/crm/v3/objects/contacts')).status).toBe(200)
  })

  test.each(['/oauth/2026-03/token', '/oauth/v1/token'])(
    'refreshes at %s, and tokens expire after 30 minutes',
    async (path) => {
      const { clientId, clientSecret, refreshToken } = hubspot.auth.oauth
      const refresh = (token: string): Promise<Reply> =>
        send(
          hubspot.baseUrl,
          '',
          'POST',
          path,
          new URLSearchParams({
            grant_type: 'refresh_token',
            client_id: clientId,
            client_secret: clientSecret,
            refresh_token: token,
          }).toString(),
        )
      const { body } = await refresh(refreshToken)
      expect(body).toEqual({
        token_type: 'bearer',
        access_token: expect.any(String),
        refresh_token: refreshToken,
        expires_in: 1800,
      })
      const list = (): Promise<Reply> =>
        send(hubspot.baseUrl, body.access_token as string, 'GET', '/crm/v3/objects/contacts?limit=1')
      const fresh = await list()
      expect(fresh.status).toBe(200)
      expect(fresh.headers.get('x-hubspot-ratelimit-daily')).toBeNull()
      nowMs += 30 * 60_000
      expect(await list()).toMatchObject({ status: 401, body: { category: 'EXPIRED_AUTHENTICATION' } })
      expect(await refresh('wrong')).toMatchObject({ status: 400, body: { status: 'BAD_REFRESH_TOKEN' } })
    },
  )

  test('refuses an unknown token and a missing scope, naming it', async () => {
    expect(await send(hubspot.baseUrl, 'nope', 'GET', '/crm/v3/objects/contacts')).toMatchObject({
      status: 401,
      body: { category: 'INVALID_AUTHENTICATION' },
    })
    hubspot.auth.scopes.delete('crm.objects.contacts.write')
    expect(await update([])).toMatchObject({
      status: 403,
      body: {
        category: 'MISSING_SCOPES',
        errors: [{ context: { requiredGranularScopes: ['crm.objects.contacts.write'] } }],
      },
    })
  })

  test('answers 423, 477, 429 and a cut connection when told to', async () => {
    const details = (): Promise<Reply> => call('GET', '/account-info/v3/details')
    hubspot.faults.lock()
    hubspot.faults.migrate(60)
    hubspot.faults.limit('DAILY')
    hubspot.faults.inject({ kind: 'drop' })
    expect(await details()).toMatchObject({ status: 423 })
    const migrating = await details()
    expect([migrating.status, migrating.headers.get('retry-after')]).toEqual([477, '60'])
    expect(await details()).toMatchObject({ status: 429, body: { policyName: 'DAILY' } })
    await expect(details()).rejects.toThrow('fetch failed')
    expect((await details()).status).toBe(200)
    const [id = ''] = firstIds(1)
    hubspot.faults.inject({ kind: 'drop-after', path: /batch\/update/ })
    await expect(update([{ id, properties: { jobtitle: 'Lost answer' } }])).rejects.toThrow('fetch failed')
    expect(hubspot.store.get('contacts', id)?.properties.jobtitle).toBe('Lost answer')
  })

  test('creates a group and a property once, and writes it from then on', async () => {
    const path = '/crm/v3/properties/companies'
    const status = {
      name: 'paydirt_status',
      label: 'Status',
      type: 'string',
      fieldType: 'text',
      groupName: 'paydirt',
    }
    expect((await call('POST', path, status)).status).toBe(400)
    expect((await call('POST', `${path}/groups`, { name: 'paydirt', label: 'Paydirt' })).body).toEqual({
      name: 'paydirt',
      label: 'Paydirt',
      displayOrder: -1,
      archived: false,
    })
    expect(await call('POST', path, status)).toMatchObject({
      status: 201,
      body: { ...status, calculated: false },
    })
    expect((await call('POST', path, status)).status).toBe(409)
    expect((await call('POST', path, { ...status, name: 'Bad Name' })).status).toBe(400)
    expect((await call('GET', '/crm/properties/2026-09/companies/paydirt_status')).body.name).toBe(
      'paydirt_status',
    )
    const [id = ''] = firstIds(1, 'companies')
    expect((await update([{ id, properties: { paydirt_status: 'enriched' } }], 'companies')).status).toBe(200)
  })

  test('associates contacts with companies and reads them back', async () => {
    const contact = hubspot.store.add('contacts', { properties: { lastname: 'Alone' } })
    const [companyId = ''] = firstIds(1, 'companies')
    const path = '/crm/v4/associations/contacts/companies/batch'
    const readBack = (): Promise<Reply> => call('POST', `${path}/read`, { inputs: [{ id: contact.id }] })
    expect(await readBack()).toMatchObject({
      status: 207,
      body: { results: [], errors: [{ subCategory: 'crm.associations.NO_ASSOCIATIONS_FOUND' }] },
    })
    const created = await call('POST', `${path}/associate/default`, {
      inputs: [{ from: { id: contact.id }, to: { id: companyId } }],
    })
    expect(created.body.results[0]).toEqual({
      from: { id: contact.id },
      to: { id: companyId },
      associationSpec: { associationCategory: 'HUBSPOT_DEFINED', associationTypeId: 279 },
    })
    expect((await readBack()).body.results).toMatchObject([
      { from: { id: contact.id }, to: [{ toObjectId: companyId }] },
    ])
  })

  test('tells the account, its usage and the scopes of its token', async () => {
    expect((await call('GET', '/account-info/v3/details')).body.portalId).toBe(hubspot.portalId)
    const usage = await call('GET', '/account-info/v3/api-usage/daily/private-apps')
    expect(usage.body.results[0]).toMatchObject({ usageLimit: 650_000, currentUsage: 2 })
    const info = await call('POST', '/oauth/v2/private-apps/get/access-token-info', {
      tokenKey: hubspot.token,
    })
    expect(info.body.scopes).toContain('crm.objects.contacts.write')
  })

  test.each(['/crm/objects/2026-01/contacts', '/crm/v3/objects/contacts/1/extra', '/nonsense'])(
    'does not know %s',
    async (path) => {
      expect((await call('GET', path)).status).toBe(404)
    },
  )
})

describe('the Salesforce stand-in', () => {
  let salesforce: SalesforceStandIn
  const data = '/services/data/v68.0'
  const call = (method: string, path: string, body?: unknown, headers = {}): Promise<Reply> =>
    send(salesforce.baseUrl, salesforce.token, method, path, body, headers)
  const query = (soql: string): Promise<Reply> => call('GET', `${data}/query?q=${encodeURIComponent(soql)}`)
  const update = (type: string, records: readonly object[], more = {}, headers = {}): Promise<Reply> =>
    call(
      'PATCH',
      `${data}/composite/sobjects`,
      { allOrNone: false, records: records.map((record) => ({ attributes: { type }, ...record })), ...more },
      headers,
    )
  const firstIds = (type: 'Account' | 'Contact' | 'Lead', count: number): string[] =>
    [...salesforce.store.list(type)].slice(0, count).map((record) => record.id)
  const idsOf = (reply: Reply): string[] => reply.body.records.map((record: { Id: string }) => record.Id)

  beforeEach(async () => {
    nowMs = START_MS
    salesforce = await startSalesforceStandIn({ seed, accounts: 40, contacts: 60, leads: 20, now })
  })
  afterEach(() => salesforce.stop())

  test('has the same records for the same seed, with real ties of whole seconds', async () => {
    const other = await startSalesforceStandIn({ seed, accounts: 40, contacts: 60, leads: 20, now })
    try {
      for (const type of ['Account', 'Contact', 'Lead'] as const)
        expect([...other.store.list(type)]).toEqual([...salesforce.store.list(type)])
    } finally {
      await other.stop()
    }
    const stamps = [...salesforce.store.list('Contact')].map((record) => record.modstampMs)
    expect(stamps.every((stamp) => stamp % 1000 === 0)).toBe(true)
    expect(new Set(stamps).size).toBe(20)
  })

  test('pages by stamp and id through ties, each record once', async () => {
    const seen: string[] = []
    let after = { stamp: '2020-01-01T00:00:00.000+0000', id: '000000000000000AAA' }
    for (;;) {
      const { body } = await query(
        `SELECT Id, SystemModstamp FROM Contact WHERE (SystemModstamp > ${after.stamp} OR (SystemModstamp = ${after.stamp} AND Id > '${after.id}')) AND SystemModstamp < 2026-11-20T12:00:00Z ORDER BY SystemModstamp, Id LIMIT 7`,
      )
      if (body.records.length === 0) break
      seen.push(...body.records.map((record: { Id: string }) => record.Id))
      const last = body.records.at(-1)
      after = { stamp: last.SystemModstamp, id: last.Id }
    }
    expect(seen).toHaveLength(60)
    expect(new Set(seen)).toEqual(new Set(firstIds('Contact', 60)))
  })

  test('answers 2,000 rows a page and the way to the next', async () => {
    salesforce.store.seed('Lead', { count: 4100, modstampMs: nowMs })
    const first = await query('SELECT Id FROM Lead ORDER BY Id')
    expect(first.body).toMatchObject({ totalSize: 4120, done: false })
    expect(first.body.records).toHaveLength(2000)
    const second = await call('GET', first.body.nextRecordsUrl as string)
    const third = await call('GET', second.body.nextRecordsUrl as string)
    expect(third.body).toMatchObject({ totalSize: 4120, done: true })
    expect(third.body.nextRecordsUrl).toBeUndefined()
    expect([first, second, third].flatMap(idsOf)).toEqual(firstIds('Lead', 4120))
    expect(await call('GET', `${data}/query/01gWx0000000009AAA-2000`)).toMatchObject({
      status: 400,
      body: [{ errorCode: 'INVALID_QUERY_LOCATOR' }],
    })
  })

  test('selects as SOQL does: no letter case, nulls different from all, lists, patterns, parents', async () => {
    const [accountId = ''] = firstIds('Account', 1)
    const add = (fields: Record<string, string | null>): string =>
      salesforce.store.add('Contact', { fields }).id
    const ann = add({ LastName: 'Zeta', FirstName: "Ann O'Hara", Title: '', AccountId: accountId })
    const bob = add({ LastName: 'ZETA', FirstName: 'Bob', Title: '100%' })
    const one = async (where: string): Promise<string[]> =>
      idsOf(await query(`SELECT Id FROM Contact WHERE ${where} ORDER BY Id`))
    expect(await one("LastName = 'zeta'")).toEqual([ann, bob])
    expect(await one("LastName = 'Zeta' AND Title != '100%'")).toEqual([ann])
    expect(await one("LastName = 'Zeta' AND Title = null")).toEqual([ann])
    expect(await one("LastName = 'Zeta' AND Title != null")).toEqual([bob])
    expect(await one("FirstName LIKE 'ann o\\'%'")).toEqual([ann])
    expect(await one("LastName = 'Zeta' AND Title LIKE '100\\%'")).toEqual([bob])
    expect(await one(`Id IN ('${ann.slice(0, 15)}', '${bob}')`)).toEqual([ann, bob])
    expect(await one(`LastName = 'Zeta' AND Id NOT IN ('${bob}')`)).toEqual([ann])
    expect(await one("LastName = 'Zeta' AND (NOT FirstName = 'Bob')")).toEqual([ann])
    const parent = await query(
      `SELECT Name, Account.Name FROM Contact WHERE Id IN ('${ann}', '${bob}') ORDER BY Id`,
    )
    expect(parent.body.records).toMatchObject([
      { Name: "Ann O'Hara Zeta", Account: { attributes: { type: 'Account' }, Name: expect.any(String) } },
      { Name: 'Bob ZETA', Account: null },
    ])
  })

  test.each([
    ['MALFORMED_QUERY', 'SELECT Id FROM Contact WHERE'],
    ['MALFORMED_QUERY', "SELECT Id FROM Contact WHERE LastName = 'a' AND Title = 'b' OR Title = 'c'"],
    ['MALFORMED_QUERY', 'SELECT Id FROM Contact WHERE SystemModstamp = LAST_N_DAYS:3'],
    ['MALFORMED_QUERY', 'SELECT Id FROM Contact LIMIT 5 WHERE Id != null'],
    ['MALFORMED_QUERY', 'SELECT * FROM Contact'],
    ['MALFORMED_QUERY', 'SELECT Id FROM Contact WHERE LastName = "x"'],
    ['INVALID_FIELD', 'SELECT Nope FROM Contact'],
    ['INVALID_FIELD', "SELECT Id FROM Contact WHERE SystemModstamp > '2026-01-01T00:00:00Z'"],
    ['INVALID_FIELD', "SELECT Id FROM Account WHERE Description = 'x'"],
    ['INVALID_TYPE', 'SELECT Id FROM Nope'],
    ['INVALID_QUERY_FILTER_OPERATOR', "SELECT Id FROM Contact WHERE Id = 'nope'"],
  ])('answers %s to: %s', async (errorCode, soql) => {
    expect(await query(soql)).toMatchObject({
      status: 400,
      body: [{ errorCode, message: expect.any(String) }],
    })
  })

  test('updates a collection in order, each failure with its own code and field', async () => {
    const ids = firstIds('Contact', 8)
    const [leadId = '', convertedId = ''] = firstIds('Lead', 2)
    salesforce.store.delete('Contact', ids[6] as string)
    salesforce.store.convert(convertedId)
    salesforce.faults.readOnlyRecords.add(ids[7] as string)
    salesforce.faults.validationRules.push({
      type: 'Contact',
      field: 'Title',
      message: 'No kings here',
      refuses: (values) => values.Title === 'King',
    })
    const contacts = await update('Contact', [
      { id: ids[0], Title: ' Pilot ', Phone: null, MailingCity: '' },
      { id: ids[1], Email: 'nope' },
      { id: ids[2], FirstName: 'x'.repeat(41) },
      { id: ids[3], Size_Band__c: 'huge' },
      { id: ids[4], Title: 'King' },
      { id: ids[5], LastName: null },
      { id: ids[6], Title: 'x' },
      { id: ids[7], Title: 'x' },
      { id: '003Wx00000zzzzzAAA', Title: 'x' },
      { id: leadId, Title: 'x' },
      { id: ids[1], CreatedDate: '2026-01-01T00:00:00Z' },
    ])
    expect(contacts.status).toBe(200)
    expect(contacts.body[0]).toEqual({ id: ids[0], success: true, errors: [] })
    const codes = contacts.body
      .slice(1)
      .map((result: { success: boolean; errors: { statusCode: string; fields: string[] }[] }) => {
        expect(result.success).toBe(false)
        return [result.errors[0]?.statusCode, result.errors[0]?.fields.join()]
      })
    expect(codes).toEqual([
      ['INVALID_EMAIL_ADDRESS', 'Email'],
      ['STRING_TOO_LONG', 'FirstName'],
      ['INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST', 'Size_Band__c'],
      ['FIELD_CUSTOM_VALIDATION_EXCEPTION', 'Title'],
      ['REQUIRED_FIELD_MISSING', 'LastName'],
      ['ENTITY_IS_DELETED', ''],
      ['INSUFFICIENT_ACCESS_OR_READONLY', ''],
      ['MALFORMED_ID', 'Id'],
      ['MALFORMED_ID', 'Id'],
      ['DUPLICATE_VALUE', ''],
    ])
    const [written] = (await query(`SELECT Title, Phone, MailingCity FROM Contact WHERE Id = '${ids[0]}'`))
      .body.records
    expect(written).toMatchObject({ Title: 'Pilot', Phone: null, MailingCity: null })
    expect((await update('Lead', [{ id: convertedId, Title: 'x' }])).body[0].errors[0]).toMatchObject({
      statusCode: 'CANNOT_UPDATE_CONVERTED_LEAD',
    })
  })

  test('stamps what it writes with the whole second and the API user', async () => {
    const [id = ''] = firstIds('Account', 1)
    await update('Account', [{ id, Phone: '+4930123456' }])
    const { body } = await call(
      'GET',
      `${data}/sobjects/Account/${id}?fields=Phone,SystemModstamp,LastModifiedById`,
    )
    expect(body).toEqual({
      attributes: { type: 'Account', url: `${data}/sobjects/Account/${id}` },
      Phone: '+4930123456',
      SystemModstamp: '2026-11-20T12:00:00.000+0000',
      LastModifiedById: salesforce.store.apiUserId,
    })
  })

  test('rolls all back under allOrNone, and refuses 201 records and unknown fields as a whole', async () => {
    const [a = '', b = ''] = firstIds('Account', 2)
    const before = structuredClone(salesforce.store.get('Account', a))
    const both = await update(
      'Account',
      [
        { id: a, Phone: '1' },
        { id: b, Name: null },
      ],
      { allOrNone: true },
    )
    expect(
      both.body.map((result: { errors: { statusCode: string }[] }) => result.errors[0]?.statusCode),
    ).toEqual(['ALL_OR_NONE_OPERATION_ROLLED_BACK', 'REQUIRED_FIELD_MISSING'])
    expect(salesforce.store.get('Account', a)).toEqual(before)
    const many = Array.from({ length: 201 }, () => ({ id: a, Phone: '1' }))
    expect((await update('Account', many)).body[0].errorCode).toBe('EXCEEDED_ID_LIMIT')
    expect(await update('Account', [{ id: a, Nope__c: 'x' }])).toMatchObject({
      status: 400,
      body: [{ errorCode: 'INVALID_FIELD' }],
    })
    salesforce.faults.unknownField = 'record'
    expect((await update('Account', [{ id: a, Nope__c: 'x' }])).body[0].errors[0].statusCode).toBe(
      'INVALID_FIELD',
    )
    expect((await update('Account', [{ id: a, NumberOfEmployees: 'many' }])).body[0].errorCode).toBe(
      'JSON_PARSER_ERROR',
    )
  })

  test('detects duplicates unless the header allows them', async () => {
    const [a = '', b = ''] = firstIds('Contact', 2)
    salesforce.store.edit('Contact', b, { Email: 'taken@norvik.com' })
    const write = (headers: object): Promise<Reply> =>
      update('Contact', [{ id: a, Email: 'Taken@norvik.com' }], {}, headers)
    expect((await write({})).body[0].errors[0].statusCode).toBe('DUPLICATES_DETECTED')
    expect((await write({ 'Sforce-Duplicate-Rule-Header': 'allowSave=true' })).body[0].success).toBe(true)
  })

  test('gives an updated lead to the queue of an active rule unless the header says not to', async () => {
    const [id = ''] = firstIds('Lead', 1)
    const owner = salesforce.store.get('Lead', id)?.fields.OwnerId
    const write = (headers: object): Promise<Reply> => update('Lead', [{ id, Title: 'x' }], {}, headers)
    await write({})
    expect(salesforce.store.get('Lead', id)?.fields.OwnerId).toBe(owner)
    salesforce.faults.hasLeadAssignment = true
    await write({ 'Sforce-Auto-Assign': 'FALSE' })
    expect(salesforce.store.get('Lead', id)?.fields.OwnerId).toBe(owner)
    await write({})
    expect(salesforce.store.get('Lead', id)?.fields.OwnerId).toMatch(/^00G/)
  })

  test('locks the account of a contact while another request writes, and rows on demand', async () => {
    const [accountId = ''] = firstIds('Account', 1)
    const contacts = ['One', 'Two'].map(
      (LastName) => salesforce.store.add('Contact', { fields: { LastName, AccountId: accountId } }).id,
    )
    // Long enough that the second request arrives while the first one holds its rows.
    salesforce.faults.lockHoldMs = 300
    const replies = await Promise.all(contacts.map((id) => update('Contact', [{ id, Title: 'x' }])))
    const results = replies.map((reply) => reply.body[0])
    expect(results.filter((result) => result.success)).toHaveLength(1)
    expect(results.find((result) => !result.success).errors).toEqual([
      {
        statusCode: 'UNABLE_TO_LOCK_ROW',
        message: `unable to obtain exclusive access to this record or 1 records: ${accountId}`,
        fields: [],
      },
    ])
    salesforce.faults.lockHoldMs = 0
    const together = await update(
      'Contact',
      contacts.map((id) => ({ id, Title: 'y' })),
    )
    expect(together.body.every((result: { success: boolean }) => result.success)).toBe(true)
    salesforce.faults.lockRows(contacts, 1)
    const again = (): Promise<Reply> => update('Contact', [{ id: contacts[0], Title: 'z' }])
    expect((await again()).body[0].errors[0].statusCode).toBe('UNABLE_TO_LOCK_ROW')
    expect((await again()).body[0].success).toBe(true)
  })

  test('reads and writes one record', async () => {
    const [id = '', gone = ''] = firstIds('Lead', 2)
    salesforce.store.delete('Lead', gone)
    const path = `${data}/sobjects/Lead`
    expect((await call('PATCH', `${path}/${id}`, { Title: 'x' })).status).toBe(204)
    expect(await call('PATCH', `${path}/${id}`, { Email: 'nope' })).toMatchObject({
      status: 400,
      body: [{ errorCode: 'INVALID_EMAIL_ADDRESS', fields: ['Email'] }],
    })
    expect(await call('GET', `${path}/${gone}`)).toMatchObject({
      status: 404,
      body: [{ errorCode: 'ENTITY_IS_DELETED' }],
    })
    expect(await call('GET', `${path}/00QWx00000zzzzz`)).toMatchObject({
      status: 404,
      body: [{ errorCode: 'NOT_FOUND' }],
    })
    const retrieved = await call('POST', `${data}/composite/sobjects/Lead`, {
      ids: [gone, id],
      fields: ['Id', 'Title'],
    })
    expect(retrieved.body).toMatchObject([null, { Id: id, Title: 'x' }])
    const byGet = await call('GET', `${data}/composite/sobjects/Lead?ids=${id},${gone}&fields=Id`)
    expect(byGet.body).toMatchObject([{ Id: id }, null])
  })

  test('lists deletions and merges, and queryAll still sees them', async () => {
    const [winner = '', loser = ''] = firstIds('Contact', 2)
    salesforce.store.merge('Contact', winner, loser)
    const window = (start: string, end: string): Promise<Reply> =>
      call(
        'GET',
        `${data}/sobjects/Contact/deleted/?start=${encodeURIComponent(start)}&end=${encodeURIComponent(end)}`,
      )
    expect((await window('2026-11-20T11:00:00+00:00', '2026-11-20T13:00:00+00:00')).body).toMatchObject({
      deletedRecords: [{ id: loser, deletedDate: '2026-11-20T12:00:00.000+0000' }],
      latestDateCovered: '2026-11-20T12:00:00.000+0000',
    })
    expect((await window('2026-11-20T11:59:30Z', '2026-11-20T12:00:00Z')).body[0].errorCode).toBe(
      'INVALID_REPLICATION_DATE',
    )
    expect((await window('2026-09-01T00:00:00Z', '2026-11-20T12:00:00Z')).body[0].errorCode).toBe(
      'INVALID_REPLICATION_DATE',
    )
    const all = `SELECT Id, IsDeleted, MasterRecordId FROM Contact WHERE Id = '${loser}'`
    expect((await query(all)).body.records).toEqual([])
    expect((await call('GET', `${data}/queryAll?q=${encodeURIComponent(all)}`)).body.records).toMatchObject([
      { IsDeleted: true, MasterRecordId: winner },
    ])
    salesforce.store.edit('Contact', winner, { Title: 'x' })
    const updated = await call(
      'GET',
      `${data}/sobjects/Contact/updated/?start=2026-11-20T11:00:00Z&end=2026-11-20T13:00:00Z`,
    )
    expect(updated.body.ids).toEqual([winner])
  })

  test('describes lengths, picklists and what can be written', async () => {
    const { body } = await call('GET', `${data}/sobjects/Contact/describe`)
    const field = (name: string): unknown =>
      body.fields.find((described: { name: string }) => described.name === name)
    expect(field('FirstName')).toMatchObject({ type: 'string', length: 40, nillable: true, updateable: true })
    expect(field('Size_Band__c')).toMatchObject({ restrictedPicklist: true, custom: true, type: 'picklist' })
    expect(field('LeadSource')).toMatchObject({
      restrictedPicklist: false,
      picklistValues: expect.any(Array),
    })
    expect(field('Name')).toMatchObject({ updateable: false, nameField: true })
    expect(field('AccountId')).toMatchObject({ referenceTo: ['Account'], relationshipName: 'Account' })
    expect((await call('GET', `${data}/sobjects/Nope/describe`)).status).toBe(404)
    const global = await call('GET', `${data}/sobjects`)
    expect(global.body.sobjects.map(({ name }: { name: string }) => name)).toEqual([
      'Account',
      'Contact',
      'Lead',
    ])
  })

  const token = (form: Record<string, string>): Promise<Reply> =>
    send(salesforce.baseUrl, '', 'POST', '/services/oauth2/token', new URLSearchParams(form).toString())

  test('issues sessions for client credentials, which expire when unused', async () => {
    const { clientId, clientSecret } = salesforce.auth
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
    const { body } = await token(form)
    expect(body).toMatchObject({
      instance_url: salesforce.baseUrl,
      token_type: 'Bearer',
      id: `${salesforce.baseUrl}/id/${salesforce.orgId}/${salesforce.store.apiUserId}`,
    })
    const userinfo = await send(
      salesforce.baseUrl,
      body.access_token as string,
      'GET',
      '/services/oauth2/userinfo',
    )
    expect(userinfo.body.organization_id).toBe(salesforce.orgId)
    nowMs += 2 * 3_600_000
    const expired = await send(salesforce.baseUrl, body.access_token as string, 'GET', `${data}/limits`)
    expect(expired).toMatchObject({ status: 401, body: [{ errorCode: 'INVALID_SESSION_ID' }] })
    expect(await token({ ...form, client_secret: 'x' })).toMatchObject({
      status: 400,
      body: { error: 'invalid_client' },
    })
    expect((await token({ ...form, grant_type: 'password' })).body.error).toBe('unsupported_grant_type')
  })

  test('checks every claim and the signature of a JWT assertion', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    salesforce.auth.setJwtKey(publicKey.export({ type: 'spki', format: 'pem' }).toString())
    const { clientId, username } = salesforce.auth
    const claims = { iss: clientId, sub: username, aud: salesforce.baseUrl, exp: nowMs / 1000 + 180 }
    const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')
    const login = (changes: object, alg = 'RS256'): Promise<Reply> => {
      const signed = `${encode({ alg })}.${encode({ ...claims, ...changes })}`
      const assertion = `${signed}.${sign('RSA-SHA256', Buffer.from(signed), privateKey).toString('base64url')}`
      return token({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion })
    }
    expect((await login({})).status).toBe(200)
    for (const changes of [
      { aud: 'https://elsewhere.com' },
      { exp: nowMs / 1000 - 1 },
      { exp: nowMs / 1000 + 3600 },
      { sub: 'x' },
    ])
      expect(await login(changes)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect((await login({ iss: 'x' })).body.error).toBe('invalid_client_id')
    expect((await login({}, 'HS256')).status).toBe(400)
    salesforce.auth.setJwtKey(
      generateKeyPairSync('rsa', { modulusLength: 2048 })
        .publicKey.export({ type: 'spki', format: 'pem' })
        .toString(),
    )
    expect(await login({})).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  })

  test('counts every request against the day and says so in the header', async () => {
    const first = await call('GET', `${data}/limits`)
    expect(first.headers.get('sforce-limit-info')).toBe('api-usage=1/100000')
    expect(first.body.DailyApiRequests).toEqual({ Max: 100_000, Remaining: 99_999 })
    salesforce.quota.used = 100_000
    expect(await query('SELECT Id FROM Lead')).toMatchObject({
      status: 403,
      body: [{ errorCode: 'REQUEST_LIMIT_EXCEEDED' }],
    })
  })

  test('knows its versions, retires old ones and refuses a URL that is too long', async () => {
    const versions = await call('GET', '/services/data')
    expect(versions.body.at(-1)).toEqual({
      label: "Winter '27",
      url: '/services/data/v68.0',
      version: '68.0',
    })
    expect((await call('GET', '/services/data/v68.0')).body.query).toBe('/services/data/v68.0/query')
    expect((await call('GET', '/services/data/v20.0/limits')).status).toBe(410)
    expect((await call('GET', '/services/data/v99.0/limits')).status).toBe(404)
    expect((await query(`SELECT Id FROM Lead WHERE Title = '${'x'.repeat(17_000)}'`)).status).toBe(414)
  })

  describe('the Bulk API 2.0', () => {
    const ingest = async (csv: string, options = {}): Promise<{ path: string; info: Reply }> => {
      const { body } = await call('POST', `${data}/jobs/ingest`, {
        object: 'Contact',
        operation: 'update',
        ...options,
      })
      const path = `${data}/jobs/ingest/${body.id}`
      expect(body).toMatchObject({ state: 'Open', contentUrl: `${path.slice(1)}/batches` })
      expect((await call('PUT', `${path}/batches`, csv, { 'content-type': 'text/csv' })).status).toBe(201)
      expect((await call('PATCH', path, { state: 'UploadComplete' })).body.state).toBe('UploadComplete')
      expect((await call('GET', path)).body.state).toBe('InProgress')
      return { path, info: await call('GET', path) }
    }

    test('updates from CSV: an empty cell leaves, #N/A clears, failures come back with code and field', async () => {
      const [a = '', b = '', c = ''] = firstIds('Contact', 3)
      for (const id of [a, b]) salesforce.store.edit('Contact', id, { Title: 'Old', Phone: '1' })
      const { path, info } = await ingest(
        `Id,Title,Phone,Email\n${a},"New, and ""quoted""",,\n${b},#N/A,2,\n${c},x,,nope\n`,
      )
      expect(info.body).toMatchObject({
        state: 'JobComplete',
        numberRecordsProcessed: 3,
        numberRecordsFailed: 1,
      })
      expect(salesforce.store.get('Contact', a)?.fields).toMatchObject({
        Title: 'New, and "quoted"',
        Phone: '1',
      })
      expect(salesforce.store.get('Contact', b)?.fields).not.toHaveProperty('Title')
      const results = await Promise.all(
        ['successfulResults', 'failedResults', 'unprocessedrecords'].map((name) =>
          call('GET', `${path}/${name}`),
        ),
      )
      expect(results[0]?.body.split('\n').slice(0, 2)).toEqual([
        '"sf__Id","sf__Created","Id","Title","Phone","Email"',
        `"${a}","false","${a}","New, and ""quoted""","",""`,
      ])
      expect(results[1]?.body).toBe(
        `"sf__Id","sf__Error","Id","Title","Phone","Email"\n"${c}","INVALID_EMAIL_ADDRESS:Email: invalid email address: nope:Email --","${c}","x","","nope"\n`,
      )
      expect(results[2]?.body).toBe('"Id","Title","Phone","Email"\n')
    })

    test('fails a job whose lines end otherwise than it said', async () => {
      const [id = ''] = firstIds('Contact', 1)
      const { info } = await ingest(`Id,Title\r\n${id},x\r\n`)
      expect(info.body).toMatchObject({
        state: 'Failed',
        errorMessage: expect.stringContaining('LineEnding'),
      })
      expect((await ingest(`Id,Title\r\n${id},x\r\n`, { lineEnding: 'CRLF' })).info.body.state).toBe(
        'JobComplete',
      )
    })

    test('queries to CSV in pages, each with its header', async () => {
      const { body } = await call('POST', `${data}/jobs/query`, {
        operation: 'query',
        query: 'SELECT Id, Title FROM Contact ORDER BY Id',
      })
      const path = `${data}/jobs/query/${body.id}`
      expect((await call('GET', `${path}/results`)).status).toBe(400)
      await call('GET', path)
      expect((await call('GET', path)).body).toMatchObject({
        state: 'JobComplete',
        numberRecordsProcessed: 60,
      })
      const first = await call('GET', `${path}/results?maxRecords=40`)
      expect(first.headers.get('sforce-numberofrecords')).toBe('40')
      const second = await call(
        'GET',
        `${path}/results?maxRecords=40&locator=${first.headers.get('sforce-locator')}`,
      )
      expect(second.headers.get('sforce-locator')).toBe('null')
      const lines = [first, second].flatMap((reply) => (reply.body as string).trim().split('\n').slice(1))
      expect(lines.map((line) => line.slice(1, 19))).toEqual(firstIds('Contact', 60))
    })
  })
})
