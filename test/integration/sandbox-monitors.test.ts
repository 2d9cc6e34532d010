import { describe, expect, test } from 'vitest'
import { API_KEY } from '../../src/sandbox/accounts.ts'
import { useSandbox } from './sandbox-fixture.ts'

const world = useSandbox()

interface Reply {
  status: number
  body: {
    data: Record<string, unknown>
    metadata: Record<string, unknown>
    code: number
    details: Record<string, unknown>
  }
}

/** Sends what is given, without any part of our client. */
async function call(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const response = await fetch(`${world.sandbox.serviceUrl}${path}`, {
    method,
    headers: {
      'user-agent': 'monitor-tests/1',
      'x-api-key': API_KEY,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: (text.startsWith('{') ? JSON.parse(text) : text) as Reply['body'] }
}

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
