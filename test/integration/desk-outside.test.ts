import { beforeEach, describe, expect, test } from 'vitest'
import { deskAccess, deskConfig, type DeskConfig } from '../../src/app/config/desk.ts'
import type { CallRefused } from '../../src/http/server/caller.ts'
import { nextOf } from '../../src/http/desk/routes/sign-in.ts'
import { metricsAuthenticator } from '../../src/http/callers/metrics-token.ts'
import { openBareDesk, users, type BareDesk } from './desk-fixture.ts'

test.each([
  ['/runs/r1?status=written', '/runs/r1?status=written'],
  ['//evil.test', '/'],
  ['/\\evil.test', '/'],
  ['https://evil.test', '/'],
  ['/sign-out', '/'],
  ['/a\nb', '/'],
  [undefined, '/'],
])('signing in goes on to %s as %s', (next, path) => {
  expect(nextOf(next)).toBe(path)
})

describe('the name under which the desk is called', () => {
  test('is one of the loopback where nobody signs in', async () => {
    const desk = await openBareDesk({ open: true })
    try {
      for (const origin of ['http://127.0.0.1:8080', 'http://localhost:8080', 'http://[::1]:8080'])
        expect([origin, (await desk.browser({ origin }).ask('/')).status]).toEqual([origin, 200])
      // A page of this name has made it point here.
      const rebound = desk.browser({ origin: 'http://rebound.test:8080' })
      expect((await rebound.ask('/')).status).toBe(403)
      expect((await rebound.ask('/spending/stop', { form: {} })).status).toBe(403)
      expect(desk.denied).toEqual(['host', 'host'])
    } finally {
      await desk.close()
    }
  })

  test('of an open desk does not let a proxy make it public', async () => {
    const desk = await openBareDesk({ open: true })
    try {
      for (const header of ['x-forwarded-for', 'x-real-ip', 'forwarded', 'via', 'x-forwarded-proto']) {
        const answer = await desk.browser().ask('/', { headers: { [header]: '203.0.113.1' } })
        expect([header, answer.status]).toEqual([header, 403])
      }
    } finally {
      await desk.close()
    }
  })

  test.each([
    ['an address of the outside', { publicUrl: 'https://paydirt.example' }],
    ['a proxy', { config: { proxy: { addresses: ['10.1.0.0/16'] } } }],
    ['another name', { config: { hosts: ['desk.example'] } }],
  ])('of a desk without users closes it to everybody where the config speaks of %s', async (_, options) => {
    const desk = await openBareDesk({ open: true, ...options })
    try {
      // As nginx hands it on by itself: the name of its upstream, and no header that tells of it.
      const visitor = desk.browser({ origin: 'http://127.0.0.1:8080' })
      for (const path of ['/', '/sign-in', '/runs', '/queues', '/desk/events']) {
        const answer = await visitor.ask(path)
        expect([path, answer.status]).toEqual([path, 403])
        expect(await answer.text()).toContain('PAYDIRT_ADMIN_PASSWORD_HASH')
      }
      expect((await visitor.ask('/spending/stop', { form: {} })).status).toBe(403)
      expect(desk.asked).toEqual([])
    } finally {
      await desk.close()
    }
  })

  test('still needs the form of the page where nobody signs in', async () => {
    const desk = await openBareDesk({ open: true })
    try {
      const local = desk.browser()
      await local.ask('/')
      expect((await local.ask('/spending/stop', { form: { _csrf: 'x' } })).status).toBe(403)
      expect((await local.ask('/spending/stop', { form: {} })).status).toBe(303)
      expect(await desk.audit.list(1)).toMatchObject([
        { actor: 'local', role: 'admin', action: 'spending.stop' },
      ])
    } finally {
      await desk.close()
    }
  })
})

describe('metrics without a token', () => {
  const here = 'http://127.0.0.1:8080'
  const users: DeskConfig['users'] = [{ name: 'x', passwordHash: 'scrypt:no', role: 'viewer' }]
  test.each<[string, Parameters<typeof openBareDesk>[0], Record<string, string>, string, boolean]>([
    ['this machine', {}, {}, here, true],
    ['this machine, by an address that is its own', { publicUrl: 'http://localhost:8080' }, {}, here, true],
    ['a name that a page elsewhere has made point here', {}, {}, 'http://rebound.test:8080', false],
    ['a proxy that tells of itself', {}, { 'x-forwarded-for': '203.0.113.1' }, here, false],
    ['a proxy that config knows', { config: { proxy: { addresses: ['10.0.0.1'] } } }, {}, here, false],
    ['a host that config knows', { config: { hosts: ['desk.example'] } }, {}, 'http://desk.example', false],
    ['the outside', { publicUrl: 'https://paydirt.example' }, {}, here, false],
    ['somebody who would have to sign in', { config: { users } }, {}, here, false],
  ])('are there, as the desk is, for %s or not', async (_, options, headers, origin, isThere) => {
    const desk = await openBareDesk({ open: true, ...options })
    try {
      expect((await desk.browser({ origin }).ask('/', { headers })).status === 200).toBe(isThere)
      const ask = (token: string | undefined, more: Record<string, string> = {}) =>
        metricsAuthenticator({ token, access: desk.access })
          .authenticate({
            method: 'GET',
            uri: `${origin}/metrics`,
            headers: new Headers({ host: new URL(origin).host, ...headers, ...more }),
            body: '',
          })
          .then(
            () => 'let in',
            ({ code }: CallRefused) => code,
          )
      expect(await ask(undefined)).toBe(isThere ? 'let in' : 'metrics_off')
      // A caller with the token is admitted from anywhere, one without it from nowhere.
      expect(await ask('secret', { authorization: 'Bearer secret' })).toBe('let in')
      expect(await ask('secret')).toBe('metrics_token')
    } finally {
      await desk.close()
    }
  })
})

describe('a proxy', () => {
  const proxy = {
    addresses: ['10.1.0.0/16'],
    userHeader: 'x-forwarded-user',
    roles: { ada: 'admin' as const },
    defaultRole: 'viewer' as const,
  }
  let desk: BareDesk
  beforeEach(async () => {
    desk = await openBareDesk({ config: { users: [], proxy, hosts: ['desk.example'] }, host: '0.0.0.0' })
    return () => desk.close()
  })
  const through = (user: string, address = '10.1.2.3') =>
    desk.browser({
      origin: 'https://desk.example',
      address,
      headers: { 'x-forwarded-user': user, 'x-forwarded-proto': 'https', 'x-forwarded-for': '198.51.100.7' },
    })

  test('names who it is, and config says what they may do', async () => {
    expect((await through('vera').ask('/')).status).toBe(200)
    expect((await through('vera').ask('/audit')).status).toBe(403)
    const ada = through('ada')
    expect((await ada.ask('/audit')).status).toBe(200)
    expect(ada.cookies.has('__Host-paydirt_desk')).toBe(true)
    expect((await ada.ask('/spending/stop', { form: {} })).status).toBe(303)
  })

  test('is believed from its own addresses alone', async () => {
    expect((await through('ada', '10.2.0.1').ask('/audit')).status).toBe(303)
    expect((await through('ada', '::ffff:10.1.2.3').ask('/audit')).status).toBe(200)
  })

  test('lets in nobody without a role when there is no default', async () => {
    await desk.close()
    const { defaultRole: _, ...strict } = proxy
    desk = await openBareDesk({
      config: { users: [], proxy: { ...strict }, hosts: ['desk.example'] },
      host: '0.0.0.0',
    })
    expect((await through('vera').ask('/')).status).toBe(403)
    expect((await through('ada').ask('/')).status).toBe(200)
  })
})

describe('where the desk may listen', () => {
  test('is everywhere once somebody must sign in, and on the loopback before', async () => {
    const open = deskConfig({})
    for (const host of ['127.0.0.1', 'localhost', '::1', '127.3.2.1'])
      expect([host, deskAccess(open, host).mode]).toEqual([host, 'open'])
    for (const host of ['0.0.0.0', '::', '192.168.1.4', 'desk.example'])
      expect(() => deskAccess(open, host)).toThrow(`PAYDIRT_HOST is ${host}, and the desk has no sign-in`)
    const [ada] = users.slice(-1)
    const closed = deskConfig({ PAYDIRT_ADMIN_PASSWORD_HASH: ada?.passwordHash })
    expect(deskAccess(closed, '0.0.0.0')).toMatchObject({
      mode: 'sign_in',
      hosts: [],
      users: [{ name: 'admin', role: 'admin' }],
    })
  })

  test('and an address of the outside closes it until then, unless it is one of this machine', async () => {
    const open = deskConfig({})
    expect(deskAccess(open, '127.0.0.1', 'https://paydirt.example').mode).toBe('closed')
    for (const url of ['http://localhost:8080', 'http://127.0.0.1:8080', 'http://[::1]:8080'])
      expect([url, deskAccess(open, '127.0.0.1', url).mode]).toEqual([url, 'open'])
    expect(deskAccess({ ...open, users }, '127.0.0.1', 'https://paydirt.example').mode).toBe('sign_in')
  })

  test('is refused with a hash that is none', () => {
    expect(() => deskConfig({ PAYDIRT_ADMIN_PASSWORD_HASH: 'secret' })).toThrow(/PAYDIRT_ADMIN_PASSWORD_HASH/)
  })
})
