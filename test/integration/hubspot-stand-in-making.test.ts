import { beforeEach, describe, expect, test } from 'vitest'
import { call, clock, firstIds, hubspot, read, search, useHubspot } from './hubspot-stand-in.fixture.ts'

useHubspot()

const objects = '/crm/objects/2026-09'
const key = { name: 'our_key', label: 'Our key', type: 'string', fieldType: 'text', hasUniqueValue: true }

beforeEach(async () => {
  for (const type of ['companies', 'contacts'])
    await call('POST', `/crm/properties/2026-09/${type}`, {
      ...key,
      groupName: type === 'companies' ? 'companyinformation' : 'contactinformation',
    })
})

const upsert = (type: string, inputs: readonly [id: string, properties: object][]) =>
  call('POST', `${objects}/${type}/batch/upsert`, {
    inputs: inputs.map(([id, properties], at) => ({
      id,
      idProperty: 'our_key',
      objectWriteTraceId: String(at),
      properties,
    })),
  })

describe('the HubSpot stand-in, where records are made', () => {
  test('makes a record by a unique property once, and says which are new', async () => {
    const first = await upsert('companies', [
      ['k1', { name: 'One' }],
      ['k2', { name: 'Two' }],
    ])
    expect(first.status).toBe(200)
    const made = (trace: string) =>
      first.body.results.find((each: { objectWriteTraceId: string }) => each.objectWriteTraceId === trace)
    expect(made('0')).toMatchObject({
      new: true,
      archived: false,
      properties: { name: 'One', our_key: 'k1' },
    })
    const again = await upsert('companies', [
      ['k1', { name: 'Uno' }],
      ['k3', { name: 'Three' }],
    ])
    expect(
      again.body.results
        .map((each: { id: string; new: boolean }) => [each.id === made('0').id, each.new])
        .sort(),
    ).toEqual([
      [false, true],
      [true, false],
    ])
    const byKey = await call('POST', `${objects}/companies/batch/read`, {
      inputs: [{ id: 'k1' }, { id: 'none' }],
      idProperty: 'our_key',
      properties: ['name'],
      propertiesWithHistory: [],
    })
    expect(byKey.status).toBe(207)
    expect(byKey.body.results).toMatchObject([{ id: made('0').id, properties: { name: 'Uno' } }])
  })

  test.each([
    [
      'no unique property',
      { id: 'a', idProperty: 'name', properties: { name: 'A' } },
      'non-unique 0-2 property name',
    ],
    [
      'the id',
      { id: '1', idProperty: 'hs_object_id', properties: {} },
      'non-unique 0-2 property hs_object_id',
    ],
    ['nothing', { id: '1', properties: {} }, 'idProperty'],
  ])('refuses an upsert by %s', async (_, input, text) => {
    const { status, body } = await call('POST', `${objects}/companies/batch/upsert`, { inputs: [input] })
    expect([status, body.category]).toEqual([400, 'VALIDATION_ERROR'])
    expect(body.message).toContain(text)
  })

  test('refuses a value that another record has in a unique property, and says which', async () => {
    const { body } = await upsert('companies', [['k1', { name: 'One' }]])
    const owner = body.results[0].id
    const [id = ''] = firstIds(1, 'companies')
    const refused = await call('PATCH', `${objects}/companies/${id}`, { properties: { our_key: 'k1' } })
    expect([refused.status, refused.body.category]).toEqual([400, 'VALIDATION_ERROR'])
    expect(refused.body.message).toBe(
      `Cannot set PropertyValueCoordinates{portalId=62515, objectTypeId=ObjectTypeId{legacyObjectType=COMPANY}, propertyName=our_key, value=k1} on ${id}. ${owner} already has that value.`,
    )
    // An archived record gives its value back.
    await call('DELETE', `${objects}/companies/${owner}`)
    const taken = await call('PATCH', `${objects}/companies/${id}`, { properties: { our_key: 'k1' } })
    expect(taken.status).toBe(200)
  })

  test('refuses a second contact with an e-mail by 409, for the whole batch or for it alone', async () => {
    const [id = ''] = firstIds(1)
    hubspot.store.edit('contacts', id, { email: 'ada@norvik.com' })
    const inputs: [string, object][] = [
      ['k1', { email: 'Ada@norvik.com' }],
      ['k2', { email: 'ben@norvik.com' }],
      ['k3', { email: 'ben@norvik.com' }],
      ['k4', { jobtitle: 'CFO' }],
    ]
    const whole = await upsert('contacts', inputs)
    expect([whole.status, whole.body.category, whole.body.message]).toEqual([
      409,
      'CONFLICT',
      `Contact already exists. Existing ID: ${id}`,
    ])
    expect(hubspot.store.uniqueOwner('contacts', 'our_key', 'k2')).toBeUndefined()
    hubspot.faults.batchErrors = 'each'
    const each = await upsert('contacts', inputs)
    expect(each.status).toBe(207)
    expect(each.body.results).toMatchObject([{ new: true, objectWriteTraceId: '1' }])
    expect(each.body.errors).toMatchObject([
      { category: 'CONFLICT', context: { objectWriteTraceId: ['0'] } },
      {
        category: 'CONFLICT',
        message: `Contact already exists. Existing ID: ${each.body.results[0].id}`,
        context: { objectWriteTraceId: ['2'] },
      },
      {
        message: 'Error creating CONTACT. Some required properties were not set.',
        context: { properties: ['email', 'firstname', 'lastname'], objectWriteTraceId: ['3'] },
      },
    ])
  })

  test('creates a batch with its associations named, and archives one', async () => {
    const inputs = [{ properties: { name: 'One' }, associations: [], objectWriteTraceId: 'a' }]
    const { status, body } = await call('POST', `${objects}/companies/batch/create`, { inputs })
    expect(status).toBe(201)
    const { id } = body.results[0]
    expect(body.results).toEqual([expect.not.objectContaining({ new: expect.anything() })])
    const without = await call('POST', `${objects}/companies/batch/create`, {
      inputs: [{ properties: { name: 'Two' } }],
    })
    expect(without.status).toBe(400)

    const archived = await call('POST', `${objects}/companies/batch/archive`, {
      inputs: [{ id }, { id: '77' }],
    })
    expect(archived.status).toBe(204)
    expect((await read([id], ['name'], 'companies')).body.results).toEqual([])
    const found = await search('companies', {
      filterGroups: [{ filters: [{ propertyName: 'hs_object_id', operator: 'EQ', value: id }] }],
    })
    expect(found.body.total).toBe(0)
    const listed = await call('GET', `${objects}/companies?archived=true`)
    expect(listed.body.results).toMatchObject([{ id, archived: true, archivedAt: expect.any(String) }])
  })

  test('finds a new record by search only after the lag, and by id and unique property at once', async () => {
    hubspot.faults.indexLagMs = 30_000
    const { body } = await upsert('companies', [['k1', { name: 'One', domain: 'one.com' }]])
    const { id } = body.results[0]
    const total = async () =>
      (
        await search('companies', {
          filterGroups: [{ filters: [{ propertyName: 'domain', operator: 'IN', values: ['one.com'] }] }],
        })
      ).body.total
    expect(await total()).toBe(0)
    expect((await read([id], ['name'], 'companies')).body.results).toHaveLength(1)
    expect((await upsert('companies', [['k1', { name: 'One' }]])).body.results).toMatchObject([
      { id, new: false },
    ])
    clock.nowMs += 31_000
    expect(await total()).toBe(1)
  })

  test('ties records by label, and lists the deals and notes of a record', async () => {
    const [contact = ''] = firstIds(1)
    const [company = ''] = firstIds(1, 'companies')
    const types = [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId: 279 }]
    const path = '/crm/associations/2026-09/contacts/companies/batch/create'
    const pair = { from: { id: contact }, to: { id: company } }
    expect((await call('POST', path, { inputs: [{ ...pair, types }] })).status).toBe(201)
    const wrong = [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId: 3 }]
    expect((await call('POST', path, { inputs: [{ ...pair, types: wrong }] })).status).toBe(400)

    hubspot.store.tie('companies', company, 'deals', '501')
    const deals = await call('POST', '/crm/associations/2026-09/companies/deals/batch/read', {
      inputs: [{ id: company }],
    })
    expect(deals.body.results).toMatchObject([{ from: { id: company }, to: [{ toObjectId: '501' }] }])
    hubspot.auth.scopes.delete('crm.objects.deals.read')
    const refused = await call('POST', '/crm/associations/2026-09/companies/deals/batch/read', {
      inputs: [{ id: company }],
    })
    expect(refused.status).toBe(403)
  })
})
