import { describe, expect, test } from 'vitest'
import {
  call,
  clock,
  firstIds,
  hubspot,
  read,
  restart,
  search,
  update,
  useHubspot,
} from './hubspot-stand-in.fixture.ts'
import { type Reply, send } from './stand-in-calls.ts'

useHubspot()

describe('the HubSpot stand-in', () => {
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

  test('merges two records into a new one, which both old ids return; a missing id is an error in a 207', async () => {
    const [winner = '', loser = '', other = ''] = firstIds(3)
    const merged = hubspot.store.merge('contacts', winner, loser)
    expect([winner, loser]).not.toContain(merged)
    const reply = await read([winner, loser, other, '7'], ['hs_merged_object_ids'])
    expect(reply.status).toBe(207)
    const ids = reply.body.results.map((result: { id: string }) => result.id)
    expect(ids.sort()).toEqual([merged, other].sort())
    const [result] = reply.body.results.filter(({ id }: { id: string }) => id === merged)
    expect(result.properties.hs_merged_object_ids).toBe(`${winner};${loser}`)
    expect(reply.body.errors).toMatchObject([{ category: 'OBJECT_NOT_FOUND', context: { ids: ['7'] } }])
    const written = await update([{ id: loser, properties: { jobtitle: 'Winner' } }])
    expect(written.body.results[0].id).toBe(merged)
    for (const id of [winner, loser])
      expect((await call('GET', `/crm/v3/objects/contacts/${id}`)).body.id).toBe(merged)
  })

  test('allows 100 requests in any ten seconds, with the headroom in the headers', async () => {
    await restart({ companies: 1, contacts: 1, limits: { perTenSeconds: 100 } })
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
    clock.nowMs += 10_000
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
    clock.nowMs += 1000
    expect((await search('contacts', { limit: 1 })).status).toBe(200)
    hubspot.limiter.setUsedToday(650_000)
    const daily = await call('GET', '/crm/v3/objects/contacts')
    expect(daily).toMatchObject({ status: 429, body: { policyName: 'DAILY' } })
    expect(daily.headers.get('x-hubspot-ratelimit-daily-remaining')).toBe('0')
    clock.nowMs += 86_400_000
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
        token_use: 'access_token',
        access_token: expect.any(String),
        refresh_token: refreshToken,
        expires_in: 1800,
      })
      const list = (): Promise<Reply> =>
        send(hubspot.baseUrl, body.access_token as string, 'GET', '/crm/v3/objects/contacts?limit=1')
      const fresh = await list()
      expect(fresh.status).toBe(200)
      expect(fresh.headers.get('x-hubspot-ratelimit-daily')).toBeNull()
      clock.nowMs += 30 * 60_000
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
        errors: [
          {
            message: 'One or more of the following scopes are required.',
            context: { requiredGranularScopes: expect.arrayContaining(['crm.objects.contacts.write']) },
          },
        ],
      },
    })
    hubspot.auth.scopes.add('crm.objects.contacts.sensitive.write.v2')
    expect(await update([])).toMatchObject({ status: 200 })
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
