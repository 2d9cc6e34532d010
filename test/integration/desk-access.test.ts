import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { deskAccess, deskConfig, type DeskConfig } from '../../src/app/config/desk.ts'
import type { CallRefused } from '../../src/http/server/caller.ts'
import { nextOf } from '../../src/http/desk/routes/sign-in.ts'
import { hashPassword } from '../../src/http/desk/access/password.ts'
import { metricsAuthenticator } from '../../src/http/callers/metrics-token.ts'
import { createSessionLedger } from '../../src/store/access/sessions.ts'
import { openBareDesk, passwords, users, type BareDesk, type Person } from './desk-fixture.ts'

type Who = Person | 'nobody'
type Visitor = ReturnType<BareDesk['browser']>
const everybody: Who[] = ['nobody', 'vera', 'otto', 'ada']

/** Each route with the least of those who may use it. */
const routes: [method: string, path: string, from: Who, form?: Record<string, string>][] = [
  ['GET', '/', 'vera'],
  ['GET', '/runs', 'vera'],
  ['GET', '/runs/:id', 'vera'],
  ['GET', '/records', 'vera'],
  ['GET', '/spend', 'vera'],
  ['GET', '/failures', 'vera'],
  ['GET', '/settings', 'vera'],
  ['GET', '/queues', 'vera'],
  ['GET', '/queues/*', 'vera'],
  ['GET', '/desk/events', 'vera'],
  ['GET', '/audit', 'otto'],
  ['GET', '/sign-in', 'nobody'],
  ['GET', '/desk/assets/:hash/:name', 'nobody'],
  ['POST', '/sign-in', 'nobody', { name: 'vera', password: 'wrong' }],
  ['POST', '/sign-out', 'nobody'],
  ['POST', '/desk/theme', 'vera', { theme: 'dark' }],
  ['POST', '/spending/stop', 'otto'],
  ['POST', '/spending/resume', 'otto'],
  ['POST', '/sync', 'otto', { connector: 'hubspot', entity: 'companies' }],
  ['POST', '/failures/retry', 'otto', { group: 'x' }],
  ['POST', '/failures/skip', 'otto', { group: 'x' }],
  ['POST', '/spend/reconcile', 'otto'],
  ['POST', '/schedules/pause', 'otto', { name: 'nightly' }],
  ['POST', '/schedules/resume', 'otto', { name: 'nightly' }],
  ['POST', '/queues', 'otto'],
  ['PUT', '/queues', 'otto'],
  ['PATCH', '/queues', 'otto'],
  ['DELETE', '/queues', 'otto'],
  ['POST', '/queues/*', 'otto'],
  ['PUT', '/queues/*', 'otto'],
  ['PATCH', '/queues/*', 'otto'],
  ['DELETE', '/queues/*', 'otto'],
  ['POST', '/sessions/end-all', 'ada'],
]

describe('every route of the desk', () => {
  let desk: BareDesk
  const seated = new Map<Who, Visitor>()
  beforeAll(async () => {
    desk = await openBareDesk()
  })
  afterAll(() => desk.close())

  /** Each signs in once, and again after a route that ended their session. */
  async function visitorOf(who: Who): Promise<Visitor> {
    const known = seated.get(who)
    if (known && (who === 'nobody' || (await known.ask('/')).status === 200)) return known
    const visitor = who === 'nobody' ? desk.browser() : await desk.as(who)
    if (who === 'nobody') await visitor.ask('/sign-in')
    seated.set(who, visitor)
    return visitor
  }

  test('is in the table', () => {
    const there = desk.app.routes.filter(({ method }) => method !== 'ALL')
    const names = [...new Set(there.map(({ method, path }) => `${method} ${path}`))]
    expect(names.sort()).toEqual(routes.map(([method, path]) => `${method} ${path}`).sort())
  })

  test.each(routes)(
    '%s %s is for %s and those above, and for nobody else',
    async (method, path, from, form) => {
      for (const who of everybody) {
        const visitor = await visitorOf(who)
        const target = path
          .replace('/queues/*', '/queues/api/queues/lookup/pause')
          .replace(':id', 'r1')
          .replace(':hash/:name', 'x/desk.css')
        const answer = await visitor.ask(target, {
          method,
          ...(method === 'GET' ? {} : { form: form ?? {} }),
        })
        await answer.body?.cancel()
        const may = everybody.indexOf(who) >= everybody.indexOf(from)
        const isRefused =
          answer.headers.get('location')?.startsWith('/sign-in?next=') === true ||
          [401, 403].includes(answer.status)
        // What is no change of the board is refused to all of them; a wrong password is, too.
        const isRefusedToAll =
          (method !== 'GET' && path === '/queues') || (method === 'POST' && path === '/sign-in')
        expect({ who, isRefused }).toEqual({ who, isRefused: isRefusedToAll || !may })
      }
    },
  )

  test('has our content policy, and neither script nor style of its own in the page', async () => {
    const ada = await desk.as('ada')
    for (const path of [
      '/',
      '/runs',
      '/records',
      '/spend',
      '/failures',
      '/settings',
      '/audit',
      '/runs/none',
    ]) {
      const answer = await ada.ask(path)
      expect(answer.headers.get('content-security-policy')).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; form-action 'self'; base-uri 'none'",
      )
      const page = await answer.text()
      expect(page).not.toMatch(
        /\sstyle=|<style|<script(?![^>]*\ssrc="\/)|\son\w+=|https?:\/\/(?!www\.w3\.org)/,
      )
    }
  })
})

test('a page that takes too long says so', async () => {
  const errors: unknown[] = []
  const desk = await openBareDesk({
    open: true,
    ports: { settings: () => new Promise<never>(() => {}) },
    timeoutMs: 100,
    onError: (error) => void errors.push(error),
  })
  try {
    const answer = await desk.browser().ask('/settings')
    expect(answer.status).toBe(503)
    expect(await answer.text()).toContain('took too long')
    expect(errors).toMatchObject([{ code: 'timeout' }])
  } finally {
    await desk.close()
  }
})

describe('a change', () => {
  let desk: BareDesk
  beforeAll(async () => {
    desk = await openBareDesk()
  })
  afterAll(() => desk.close())
  beforeEach(() => void desk.asked.splice(0))

  test('needs the form that was made for this visitor', async () => {
    const [otto, ada] = [await desk.as('otto'), await desk.as('ada')]
    for (const token of ['', 'x', ada.csrf(), otto.csrf().slice(0, -1)]) {
      const answer = await otto.ask('/spending/stop', { form: { _csrf: token } })
      expect(answer.status).toBe(403)
    }
    expect(desk.asked).toEqual([])
    expect((await otto.ask('/spending/stop', { form: {} })).status).toBe(303)
    expect(desk.asked).toEqual(['stop by otto'])
  })

  test('needs to come from a page of the desk', async () => {
    const otto = await desk.as('otto')
    for (const origin of [
      'http://evil.test',
      'null',
      'http://127.0.0.1:9',
      'https://127.0.0.1.evil.test:8080',
      '',
    ]) {
      const answer = await otto.ask('/spending/resume', { form: {}, headers: { origin } })
      expect([origin, answer.status]).toEqual([origin, 403])
      const onBoard = await otto.ask('/queues/api/queues/lookup/pause', {
        method: 'PUT',
        headers: { origin },
      })
      expect([origin, onBoard.status]).toEqual([origin, 403])
    }
    expect(desk.asked).toEqual([])
  })

  test('of a queue is one that the board may make, and is noted', async () => {
    const otto = await desk.as('otto')
    const change = (path: string, method = 'PUT') => otto.ask(`/queues/api/queues/${path}`, { method })
    expect((await change('lookup/add', 'POST')).status).toBe(403)
    expect((await change('lookup/obliterate')).status).toBe(403)
    expect((await change('lookup/k1/update-data', 'PATCH')).status).toBe(403)
    expect((await change('lookup/clean/failed')).status).toBe(200)
    const [last] = await desk.audit.list(1)
    expect(last).toMatchObject({
      actor: 'otto',
      action: 'queue.change',
      target: 'lookup',
      details: { action: 'clean/failed' },
    })
  })

  test('is noted with who, what, when and on what', async () => {
    const otto = await desk.as('otto')
    await otto.ask('/sync', { form: { connector: 'hubspot', entity: 'companies' } })
    await otto.ask('/spending/stop', { form: { reason: 'too dear' } })
    await otto.ask('/schedules/pause', { form: { name: 'nightly' } })
    const rows = await desk.audit.list(3)
    expect(rows.map(({ actor, role, action, target, at }) => ({ actor, role, action, target, at }))).toEqual([
      { actor: 'otto', role: 'operator', action: 'schedule.pause', target: 'nightly', at: desk.now() },
      { actor: 'otto', role: 'operator', action: 'spending.stop', target: undefined, at: desk.now() },
      { actor: 'otto', role: 'operator', action: 'sync.start', target: 'hubspot companies', at: desk.now() },
    ])
    expect(desk.asked).toEqual(['sync hubspot companies', 'stop too dear (otto)', 'pause nightly by otto'])
  })

  test('that is too large is refused before it is read', async () => {
    const otto = await desk.as('otto')
    const answer = await otto.ask('/spending/stop', { form: { reason: 'x'.repeat(70_000) } })
    expect(answer.status).toBe(413)
    expect(desk.denied).toContain('too_large')
    expect(desk.asked).toEqual([])
  })
})

describe('a session', () => {
  let desk: BareDesk
  beforeEach(async () => {
    desk = await openBareDesk({ config: { idleMs: 60 * 60_000, lifetimeMs: 12 * 3_600_000 } })
    return () => desk.close()
  })

  test('begins with a token that nobody could have planted, and is kept as a hash', async () => {
    const visitor = desk.browser()
    await visitor.ask('/sign-in')
    const before = visitor.cookies.get('paydirt_desk')
    await visitor.signIn('vera', passwords.vera)
    const after = visitor.cookies.get('paydirt_desk') ?? ''
    expect(after).not.toBe(before)
    expect(after).toMatch(/^[\w-]{43}$/)
    const rows = await desk.db.selectFrom('desk_sessions').selectAll().execute()
    expect(rows).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toContain(after)
  })

  test('ends when it is not used, and at its end in any case', async () => {
    const vera = await desk.as('vera')
    desk.later(59 * 60_000)
    expect((await vera.ask('/')).status).toBe(200)
    desk.later(59 * 60_000)
    expect((await vera.ask('/')).status).toBe(200)
    desk.later(61 * 60_000)
    expect((await vera.ask('/')).headers.get('location')).toBe('/sign-in?next=%2F')
    const again = await desk.as('vera')
    for (let hour = 0; hour < 14; hour += 1) {
      desk.later(55 * 60_000)
      await again.ask('/')
    }
    expect((await again.ask('/')).status).toBe(303)
  })

  test('ends when only an open page uses it', async () => {
    const vera = await desk.as('vera')
    // What it reads goes on for as long as it is open, and is opened anew after each break.
    for (let minutes = 0; minutes < 60; minutes += 25) {
      const stream = await vera.ask('/desk/events')
      expect(stream.status).toBe(200)
      const reader = stream.body?.getReader()
      await reader?.read()
      desk.later(25 * 60_000)
      await reader?.cancel()
    }
    expect((await vera.ask('/')).headers.get('location')).toContain('/sign-in')
  })

  test('ends when its user signs out, and cannot be used again', async () => {
    const vera = await desk.as('vera')
    const token = vera.cookies.get('paydirt_desk') ?? ''
    expect((await vera.ask('/sign-out', { form: {} })).status).toBe(303)
    const thief = desk.browser()
    thief.cookies.set('paydirt_desk', token)
    expect((await thief.ask('/')).status).toBe(303)
  })

  test('ends when its user gets another password or role, or leaves the config; those of others go on', async () => {
    const all = users
    const vera = all.find(({ name }) => name === 'vera')!
    const others = all.filter((user) => user !== vera)
    for (const changed of [
      [{ ...vera, passwordHash: await hashPassword(passwords.vera) }],
      [{ ...vera, role: 'admin' as const }],
      [],
    ]) {
      const [hers, his] = [await desk.as('vera'), await desk.as('otto')]
      const stolen = desk.browser()
      stolen.cookies.set('paydirt_desk', hers.cookies.get('paydirt_desk') ?? '')
      desk.access.users = [...others, ...changed]
      expect((await stolen.ask('/desk/events')).status).toBe(303)
      expect((await hers.ask('/')).headers.get('location')).toBe('/sign-in?next=%2F')
      expect((await his.ask('/')).status).toBe(200)
      // It is over for good: the old settings do not bring it back.
      desk.access.users = all
      expect((await hers.ask('/')).status).toBe(303)
    }
  })

  test('of before it was bound to its password is over', async () => {
    const vera = await desk.as('vera')
    await desk.db.updateTable('desk_sessions').set({ credential: null }).execute()
    expect((await vera.ask('/')).status).toBe(303)
  })

  test('of everybody ends at once', async () => {
    const [vera, ada] = [await desk.as('vera'), await desk.as('ada')]
    await ada.ask('/sessions/end-all', { form: {} })
    expect((await vera.ask('/')).status).toBe(303)
    expect((await ada.ask('/')).status).toBe(303)
  })

  test('has a cookie that pages cannot read; over https it is bound to this host', async () => {
    const plain = (await desk.browser().ask('/sign-in')).headers.getSetCookie()[0]
    expect(plain).toMatch(/^paydirt_desk=[\w-]+; Path=\/; HttpOnly; SameSite=Lax$/)
    const secure = (
      await desk.browser({ origin: 'https://127.0.0.1' }).ask('/sign-in')
    ).headers.getSetCookie()[0]
    expect(secure).toMatch(/^__Host-paydirt_desk=[\w-]+; Path=\/; HttpOnly; Secure; SameSite=Lax$/)
  })
})

describe('signing in', () => {
  let desk: BareDesk
  beforeEach(async () => {
    desk = await openBareDesk()
    return () => desk.close()
  })

  test('takes a password that was hashed as the command `password` hashes it', async () => {
    const hashed = {
      name: 'olga',
      passwordHash: await hashPassword('olga signs in'),
      role: 'viewer' as const,
    }
    desk.access.users = [...users, hashed]
    const visitor = desk.browser()
    expect((await visitor.signIn('olga', 'olga signs on')).status).toBe(401)
    expect((await visitor.signIn('olga', 'olga signs in')).status).toBe(303)
    expect((await visitor.ask('/')).status).toBe(200)
  })

  test('is refused with the same words for a wrong name and a wrong password', async () => {
    const texts = []
    for (const [name, password] of [
      ['vera', 'wrong'],
      ['nobody', passwords.vera],
      ['', ''],
    ] as const) {
      const answer = await desk.browser().signIn(name, password)
      expect(answer.status).toBe(401)
      texts.push(/role="alert">([^<]*)/.exec(await answer.text())?.[1]?.trim())
    }
    expect(new Set(texts)).toEqual(new Set(['Wrong name or password.']))
  })

  test('is slowed after a few failures from an address, whatever the name, and a right password does not help', async () => {
    const guesser = desk.browser({ address: '203.0.113.9' })
    for (let i = 0; i < 5; i += 1) expect((await guesser.signIn(`user${i}`, 'wrong')).status).toBe(401)
    const held = await guesser.signIn('vera', passwords.vera)
    expect(held.status).toBe(429)
    expect(Number(held.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await desk.browser({ address: '203.0.113.10' }).signIn('vera', passwords.vera)).status).toBe(303)
    desk.later(60_000)
    expect((await guesser.signIn('vera', passwords.vera)).status).toBe(303)
    expect((await desk.browser({ address: '203.0.113.9' }).signIn('otto', passwords.otto)).status).toBe(303)
  })

  test('is slowed for a name from many addresses, but its owner is not locked out for long', async () => {
    for (let i = 0; i < 40; i += 1) {
      await desk.browser({ address: `203.0.113.${i}` }).signIn('vera', 'wrong')
    }
    expect((await desk.browser().signIn('vera', passwords.vera)).status).toBe(429)
    desk.later(31_000)
    expect((await desk.browser().signIn('vera', passwords.vera)).status).toBe(303)
  })

  test('from an address that is blocked already does not count against the name', async () => {
    const sessions = createSessionLedger(desk.db, { now: desk.now, idleMs: 1, lifetimeMs: 1 })
    for (let count = 0; count < 5; count++) await sessions.attempt('198.51.100.9', `nobody ${count}`)
    for (let count = 0; count < 20; count++)
      expect(await sessions.attempt('198.51.100.9', 'otto')).toMatchObject({ waitMs: expect.any(Number) })
    expect(await sessions.attempt('198.51.100.10', 'otto')).toBeUndefined()
  })

  test('is forgotten after a while, also where nobody gets in', async () => {
    const sessions = createSessionLedger(desk.db, { now: desk.now, idleMs: 1, lifetimeMs: 1 })
    const rows = () => desk.db.selectFrom('desk_attempts').select('scope').execute()
    await sessions.attempt('198.51.100.11', 'somebody')
    await sessions.prune()
    expect(await rows()).not.toEqual([])
    desk.later(31 * 60_000)
    await sessions.prune()
    expect(await rows()).toEqual([])
  })

  test('counts attempts that are made side by side', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => desk.browser({ address: '203.0.113.7' }).signIn('vera', 'wrong')),
    )
    expect(answers.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(5)
  })
})

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
      // Who brings the token comes from anywhere, and who does not from nowhere.
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
