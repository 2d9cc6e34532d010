import { describe, expect, test } from 'vitest'
import {
  call,
  clock,
  firstIds,
  hubspot,
  read,
  search,
  start,
  update,
  useHubspot,
} from './hubspot-stand-in.fixture.ts'

useHubspot()

describe('the HubSpot stand-in', () => {
  test('has the same records for the same seed, dirty and of every kind', async () => {
    const other = await start({})
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
        hs_lastmodifieddate: new Date(clock.nowMs).toISOString(),
      },
      createdAt: expect.any(String),
      updatedAt: new Date(clock.nowMs).toISOString(),
      archived: false,
    })
  })

  test('searches a window of stamps and ids in numeric order', async () => {
    const { body } = await search('contacts', {
      filterGroups: [
        {
          filters: [
            { propertyName: 'lastmodifieddate', operator: 'GTE', value: '0' },
            { propertyName: 'lastmodifieddate', operator: 'LTE', value: String(clock.nowMs) },
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
    hubspot.store.seed('contacts', { count: 12_000, modifiedAtMs: clock.nowMs - 1000 })
    const window = (fromId: number, after: number): object => ({
      filterGroups: [
        {
          filters: [
            { propertyName: 'lastmodifieddate', operator: 'EQ', value: String(clock.nowMs - 1000) },
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
    clock.nowMs += 5000
    expect((await search('contacts', changed)).body.total).toBe(1)
  })

  test('writes a batch, trims nothing it was not told, and answers in an order of its own', async () => {
    const [a = '', b = ''] = firstIds(2)
    clock.nowMs += 1
    const reply = await update([
      { id: b, properties: { jobtitle: 'B' }, objectWriteTraceId: 'tb' },
      { id: a, properties: { jobtitle: 'A', phone: '' }, objectWriteTraceId: 'ta' },
    ])
    expect(reply.status).toBe(200)
    expect(reply.body).toMatchObject({
      status: 'COMPLETE',
      results: [
        { id: a, objectWriteTraceId: 'ta', properties: { jobtitle: 'A', phone: null } },
        {
          id: b,
          objectWriteTraceId: 'tb',
          properties: { lastmodifieddate: new Date(clock.nowMs).toISOString() },
        },
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
})
