import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createStoreWatch, StoreAwayError } from '../../src/http/desk/model/store-watch.ts'
import { prefersPage } from '../../src/http/server/problem.ts'
import { openBareDesk, type BareDesk } from './desk-fixture.ts'

const browserAccept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

test.each([
  [browserAccept, true],
  ['text/html', true],
  ['application/json, text/plain, */*', false],
  ['application/json, text/html;q=0.5', false],
  ['*/*', false],
  ['', false],
])('a caller that accepts %j gets a page: %s', (accept, wanted) => {
  expect(prefersPage(new Headers({ accept }))).toBe(wanted)
})

describe('an error of the desk', () => {
  let desk: BareDesk
  let vera: Awaited<ReturnType<BareDesk['as']>>
  const errors: unknown[] = []
  beforeAll(async () => {
    desk = await openBareDesk({
      ports: { settings: () => Promise.reject(new Error('jane@acme.test broke it')) },
      onError: (error) => void errors.push(error),
    })
    vera = await desk.as('vera')
  })
  afterAll(() => desk.close())

  const cases: [status: number, code: string, path: string, method: string, words: string][] = [
    [404, 'no_such_page', '/nothing/here', 'GET', 'There is no page at this address'],
    [404, 'no_such_page', '/runs/r1/nothing', 'GET', 'There is no page at this address'],
    [403, 'desk_role', '/audit', 'GET', 'This needs the role operator'],
    [405, 'method_not_allowed', '/spending/stop', 'GET', 'This address takes POST'],
    [405, 'method_not_allowed', '/runs', 'DELETE', 'This address takes GET, HEAD'],
    [500, 'internal', '/settings', 'GET', 'The log has the details'],
  ]

  test.each(cases)('%i %s at %s is a page for a browser', async (status, _, path, method, words) => {
    const answer = await vera.ask(path, { method, headers: { accept: browserAccept } })
    expect(answer.status).toBe(status)
    expect(answer.headers.get('content-type')).toContain('text/html')
    expect(answer.headers.get('content-security-policy')).toContain("style-src 'self'")
    const page = await answer.text()
    expect(page).toContain(words)
    expect(page).toContain(`Status ${status}`)
    expect(page).toContain('desk.css')
    expect(page).not.toMatch(/jane|acme/)
    // Signed in, the way on is the navigation.
    if (path !== '/nothing/here') expect(page).toContain('aria-label="Pages"')
  })

  test.each(cases)('%i %s at %s is a problem document for a program', async (status, code, path, method) => {
    if (path === '/nothing/here') return
    const answer = await vera.ask(path, { method, headers: { accept: 'application/json' } })
    if (code === 'no_such_page') return expect(answer.status).toBe(404)
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
    expect(await answer.json()).toMatchObject({ status, code, type: `urn:paydirt:problem:${code}` })
    if (status === 405) expect(answer.headers.get('allow')).toBeTruthy()
  })

  test('in front of the sign-in has the frame of the sign-in, without the navigation', async () => {
    const page = await (await desk.browser().ask('/nothing')).text()
    expect(page).toContain('Not found')
    expect(page).not.toContain('aria-label="Pages"')
  })

  test('only what was not expected is logged', () => {
    expect(errors.map(String)).toEqual(Array.from({ length: 2 }, () => 'Error: jane@acme.test broke it'))
  })
})

describe('while the database does not respond', () => {
  test.each([
    ['refuses', () => Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))],
    ['hangs', () => new Promise<never>(() => {})],
  ])('work that %s is given up within two seconds', async (_, work) => {
    const watch = createStoreWatch(() => new Promise(() => {}))
    const startedMs = performance.now()
    await expect(watch.guard(work())).rejects.toThrow(StoreAwayError)
    expect(performance.now() - startedMs).toBeLessThan(2_000)
  })

  test('work of a slow one that gives signs of life goes on', async () => {
    let pings = 0
    const watch = createStoreWatch(async () => void (pings += 1))
    const slow = new Promise((resolve) => setTimeout(resolve, 250, 'done'))
    expect([await watch.guard(slow), pings]).toEqual(['done', 1])
  })

  test('the page Now comes up and keeps the figures that it had', async () => {
    let isAway = false
    const desk = await openBareDesk({ open: true, onError: () => {} })
    try {
      const stop = desk.spendSwitch
      const away = () => Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))
      const isStopped = stop.isStopped.bind(stop)
      stop.isStopped = () => (isAway ? away() : isStopped())
      const visitor = desk.browser()
      expect(await (await visitor.ask('/')).text()).not.toContain('does not respond: nothing is bought')
      isAway = true
      const answer = await visitor.ask('/')
      expect(answer.status).toBe(200)
      const page = await answer.text()
      expect(page).toContain('The database does not respond: nothing is bought or written')
      expect(page).toContain('those of 12:00:00 UTC')
      expect(page).toContain('Nothing is bought: the database does not respond')
      isAway = false
      expect(await (await visitor.ask('/')).text()).not.toContain('nothing is bought or written')
    } finally {
      await desk.close()
    }
  })
})
