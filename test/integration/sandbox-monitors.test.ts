import { describe, expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { useSandbox } from './sandbox-fixture.ts'
import {
  countMonitors,
  createCaller,
  created,
  monitorFields,
  type Reply,
} from './sandbox-monitors.fixture.ts'

const world = useSandbox()

const call = createCaller(() => world.sandbox.serviceUrl)

describe('operations of a workspace', () => {
  test('need a key and a User-Agent of their own', async () => {
    const path = '/channel-templates/types'
    expect((await call('GET', path, undefined, { 'x-api-key': 'nobody' })).status).toBe(401)
    expect(await call('GET', path, undefined, { 'user-agent': 'curl/8.5' })).toEqual({
      status: 403,
      body: 'error code: 1010',
    })
    expect((await call('GET', path)).status).toBe(200)
  })

  test('are found by method and path, and counted by name', async () => {
    const refused = await fetch(`${world.sandbox.serviceUrl}/channel-templates/types`, { method: 'PUT' })
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET'])
    expect((await call('GET', '/channel-templates/types/more')).status).toBe(404)
    const before = world.sandbox.stats().byEndpoint.template_types ?? 0
    await call('GET', '/channel-templates/types')
    expect(world.sandbox.stats().byEndpoint.template_types).toBe(before + 1)
  })

  test('the plan that the switch sets is stated and kept', async () => {
    world.sandbox.faults.set({ plan: { licence_count: 3, max_search_per_page: 50, max_channel_template: 1 } })
    expect((await call('POST', '/profile', {})).body.data).toMatchObject({
      licence_count: 3,
      max_search_per_page: 50,
      total_max_channel_template: 3,
    })
    const search = (perPage: number) => call('POST', '/people/search', { per_page: perPage })
    expect((await search(50)).status).toBe(200)
    expect(await search(51)).toMatchObject({ status: 416, body: { code: 41675, details: { limit: 50 } } })
    expect((await call('GET', '/monitors?per_page=50')).status).toBe(200)
    const replies = []
    for (let at = 0; at < 4; at++) replies.push(await createTemplate({ name: `Plan ${at}` }))
    expect(replies[3]).toMatchObject({ status: 416, body: { code: 41691, details: { limit: 3 } } })
    await call('POST', '/channel-templates/delete', { channel_template_id: replies.slice(0, 3).map(idOf) })
  })

  test('a payment is no key', async () => {
    const reply = await fetch(`${world.sandbox.serviceUrl}/monitors`, {
      headers: { 'user-agent': 'monitor-tests/1', 'x-payment': 'e30=' },
    })
    expect(reply.status).toBe(401)
  })

  test('the profile states caps and totals, and the usage what is left of them', async () => {
    const { body } = await call('POST', '/profile', {})
    expect(body.data).toMatchObject({
      max_search_per_page: 25,
      max_monitor: 25,
      total_max_monitor: 50,
      total_max_search_page: 200,
      total_max_search_per_page: 50,
    })
    const template = await createTemplate({ name: 'Counted' })
    const quotas = (await call('POST', '/profile/usage', {})).body.data['quotas']
    expect(quotas).toContainEqual({ name: 'channel_template', used: 1, limit: 100, remaining: 99 })
    await call('POST', '/channel-templates/delete', { channel_template_id: [idOf(template)] })
  })
})

describe('channel templates', () => {
  test('each type lists the parameters that a template of it may have', async () => {
    const types = await templateTypes()
    expect(new Set(types.map((each) => each.channel_type_slug))).toEqual(
      new Set(['email', 'professional-network', 'messaging']),
    )
    for (const { channel_node_id: id } of types) {
      expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    }
  })

  test.each([
    ['no name', { name: undefined }, 41847, 'name'],
    ['a node that is no UUID of a type', { channel_node_id: '4102' }, 40001, 'channel_node_id'],
    ['the slug of another node', { channel_type_slug: 'messaging' }, 40001, 'channel_type_slug'],
    ['a parameter of another channel', { parameters: { text: 'x' } }, 40001, 'parameters.text'],
    ['a missing parameter', { parameters: { subject: 'x' } }, 41847, 'parameters.body'],
    ['a parameter that is no text', { parameters: { subject: 1, body: 'x' } }, 40001, 'parameters.subject'],
  ])('%s is refused', async (_, change, code, parameter) => {
    const reply = await createTemplate(change)
    expect(reply).toMatchObject({ status: 400, body: { code, details: { parameter } } })
  })

  test('a template that is created again is a further version, and a deletion removes one', async () => {
    const [first, second] = [await createTemplate(), await createTemplate({ colour: 'red' })]
    expect([first, second].map(({ body }) => body.data['version'])).toEqual([1, 2])
    expect(second.body.metadata).toMatchObject({ ignored_fields: ['colour'] })
    const remove = (ids: unknown) => call('POST', '/channel-templates/delete', { channel_template_id: ids })
    expect((await remove([String(idOf(first))])).body.code).toBe(40001)
    expect((await remove([])).body.code).toBe(40001)
    expect((await remove(undefined)).body.code).toBe(41847)
    expect((await remove([idOf(second)])).body.data).toEqual({ deleted: [idOf(second)], not_found: [] })
    expect((await remove([idOf(first), idOf(second)])).body.data).toEqual({
      deleted: [idOf(first)],
      not_found: [idOf(second)],
    })
    expect((await createTemplate()).body.data['version']).toBe(1)
  })
})

describe('monitors', () => {
  test('are created, read, changed and deleted, and two with the same fields are two', async () => {
    const [one, two] = [await created(call), await created(call)]
    expect(one).toMatchObject({ status: 'draft', name: 'Spain', filters: {}, domain_search_ids: [] })
    expect(two.monitor_id).not.toBe(one.monitor_id)
    const path = `/monitors/${one.monitor_id}`
    expect((await call('GET', path)).body.data).toEqual(one)
    const changed = await call('PATCH', path, { status: 'active', filters: { tos: ['ES'] } })
    expect(changed.body.data).toMatchObject({ name: 'Spain', status: 'active', filters: { tos: ['ES'] } })
    expect((await call('GET', path)).body.data).toEqual(changed.body.data)
    expect((await call('DELETE', path)).body.data).toEqual({ monitor_id: one.monitor_id, is_deleted: true })
    for (const method of ['GET', 'DELETE']) {
      expect(await call(method, path)).toMatchObject({ status: 400, body: { code: 40020 } })
    }
    expect((await call('GET', `/monitors/${two.monitor_id}`)).body.data).toEqual(two)
  })

  test('what replaced the booleans is the status: they are dropped and named', async () => {
    const fields = {
      is_active: true,
      is_paused: false,
      nickname: 'x',
      filters: { tos: ['ES'], colour: ['red'] },
    }
    const { body } = await call('POST', '/monitors', monitorFields(fields))
    expect(body.data).toMatchObject({ status: 'draft', filters: { tos: ['ES'] } })
    expect(body.data).not.toHaveProperty('is_active')
    expect(body.metadata).toMatchObject({
      profile: { total_credit_cost: 0 },
      ignored_fields: ['is_active', 'is_paused', 'nickname', 'filters.colour'],
    })
    const again = await call('PATCH', `/monitors/${body.data['monitor_id']}`, { is_paused: true })
    expect(again.body).toMatchObject({
      data: { status: 'draft' },
      metadata: { ignored_fields: ['is_paused'] },
    })
  })

  test('the detection mode stays as it was created', async () => {
    const { monitor_id: id } = await created(call)
    const change = (mode: string) => call('PATCH', `/monitors/${id}`, { name: 'New', detection_mode: mode })
    expect(await change('company_first')).toMatchObject({ status: 400, body: { code: 40021 } })
    expect((await call('GET', `/monitors/${id}`)).body.data).toMatchObject({ name: 'Spain' })
    expect((await change('signal_first')).status).toBe(200)
  })

  test('a market-wide monitor drops the companies it was given, one of named accounts needs them', async () => {
    const broad = await call('POST', '/monitors', monitorFields({ domain_search_ids: ['ds-a.example'] }))
    expect(broad.body.data).toMatchObject({ domain_search_ids: [] })
    expect(broad.body.metadata).toMatchObject({ ignored_fields: ['domain_search_ids'] })
    const named = monitorFields({ detection_mode: 'company_first' })
    expect((await call('POST', '/monitors', named)).body.code).toBe(40028)
    const ids = { domain_search_ids: ['ds-a.example', 'ds-a.example'] }
    const { body } = await call('POST', '/monitors', { ...named, ...ids })
    expect(body.data).toMatchObject({ domain_search_ids: ['ds-a.example'] })
    const emptied = await call('PATCH', `/monitors/${body.data['monitor_id']}`, { domain_search_ids: [] })
    expect(emptied.body.code).toBe(40028)
  })

  test.each([
    ['no name', { name: undefined }, 41847],
    ['a blank name', { name: '   ' }, 40022],
    ['no mode', { detection_mode: undefined }, 41847],
    ['another mode', { detection_mode: 'both' }, 40027],
    ['another status', { status: 'running' }, 40023],
    ['an unknown type of signal', { signal_types: ['expansion'] }, 40024],
    ['no type of signal', { signal_types: [] }, 40024],
    ['filters that are no object', { filters: [] }, 40030],
    ['a filter that is no list', { filters: { tos: 'ES' } }, 40030],
    ['companies that are no list', { domain_search_ids: 'ds-a.example' }, 40029],
    ['a webhook without TLS', { webhook_url: 'http://hooks.example/x' }, 40025],
    ['a webhook with a password', { webhook_url: 'https://a:b@hooks.example/x' }, 40025],
    ['a webhook that is no URL', { webhook_url: 'hooks.example' }, 40025],
    ['a header of the connection', { webhook_headers: { Host: 'elsewhere.example' } }, 40031],
    ['a header of two lines', { webhook_headers: { 'x-a': 'b\r\nx-c: d' } }, 40031],
  ])('%s is refused', async (_, change, code) => {
    const reply = await call('POST', '/monitors', monitorFields(change))
    expect(reply).toMatchObject({ status: 400, body: { code, message: expect.any(String), details: {} } })
  })

  test('a body that is no object is refused', async () => {
    expect((await call('POST', '/monitors', [])).body.code).toBe(40001)
    expect((await call('POST', '/monitors', {}, { 'content-type': 'text/plain' })).body.code).toBe(40001)
  })

  test('are listed page by page, the newest first, up to the limits of the plan', async () => {
    const own = await startSandbox({
      apiKeys: { one: { credit: 1, topupCredit: 0 }, two: { credit: 1, topupCredit: 0 } },
    })
    try {
      const ask = createCaller(() => own.serviceUrl)
      const by = (key: string, method: string, path: string, body?: unknown) =>
        ask(method, path, body, { 'x-api-key': key })
      for (let at = 0; at < 50; at++) await by('one', 'POST', '/monitors', monitorFields({ name: `M${at}` }))
      expect(await by('one', 'POST', '/monitors', monitorFields())).toMatchObject({
        status: 416,
        body: { code: 41691, details: { limit: 50 } },
      })
      const names = async (query: string) => {
        const { body } = await by('one', 'GET', `/monitors${query}`)
        return (body.data['monitors'] as { name: string }[]).map(({ name }) => name)
      }
      expect(await names('')).toHaveLength(25)
      expect((await names('?page=2&per_page=20'))[0]).toBe('M29')
      expect(await names('?page=4&per_page=20')).toEqual([])
      expect(await names('?status=active')).toEqual([])
      const list = await by('one', 'GET', '/monitors?colour=red&page=3&per_page=20')
      expect(list.body.data['pagination']).toEqual({
        page: 3,
        per_page: 20,
        total_entries: 50,
        total_pages: 3,
      })
      expect(list.body.metadata).toMatchObject({ ignored_fields: ['colour'] })
      for (const [query, status, code] of [
        ['per_page=26', 416, 41675],
        ['page=101', 416, 41676],
        ['page=0', 400, 40001],
        ['status=running', 400, 40023],
      ] as const) {
        expect(await by('one', 'GET', `/monitors?${query}`)).toMatchObject({ status, body: { code } })
      }
      // Another workspace has its own.
      const [{ monitor_id: id }] = list.body.data['monitors'] as [{ monitor_id: string }]
      expect((await by('two', 'GET', '/monitors')).body.data['monitors']).toEqual([])
      for (const method of ['GET', 'DELETE']) {
        expect((await by('two', method, `/monitors/${id}`)).body.code).toBe(40020)
      }
      const { body } = await by('one', 'POST', '/profile/usage', {})
      expect(body.data['quotas']).toContainEqual({ name: 'monitor', used: 50, limit: 50, remaining: 0 })
    } finally {
      await own.stop()
    }
  })

  test('a sentence becomes a draft that is not stored', async () => {
    const before = await count()
    const ask = (query: unknown) => call('POST', '/monitors/interpret', { query })
    const { body } = await ask('Companies from Germany that expand into Spain')
    expect(body.data).toMatchObject({
      status: 'draft',
      detection_mode: 'signal_first',
      signal_types: ['expansions'],
      filters: { froms: ['DE'], tos: ['ES'] },
    })
    expect(body.data).not.toHaveProperty('monitor_id')
    expect(await count()).toBe(before)
    expect((await created(call, body.data)).status).toBe('draft')
    expect((await ask('')).body.code).toBe(41847)
    expect((await ask(7)).body.code).toBe(40001)
    expect((await ask('Good morning')).body.code).toBe(40033)
  })
})

const count = () => countMonitors(call)

async function templateTypes() {
  const { body } = await call('GET', '/channel-templates/types')
  return body.data['types'] as { channel_node_id: string; channel_type_slug: string; name: string }[]
}

async function createTemplate(change: object = {}) {
  const email = (await templateTypes()).find(({ name }) => name === 'E-mail')!
  return call('POST', '/channel-templates', {
    name: 'First touch',
    channel_node_id: email.channel_node_id,
    channel_type_slug: 'email',
    parameters: { subject: 'Hello', body: 'We saw that you are moving.' },
    ...change,
  })
}

const idOf = ({ body }: Reply) => body.data['channel_template_id'] as number
