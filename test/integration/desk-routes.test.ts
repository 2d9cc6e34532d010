import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openBareDesk, type BareDesk, type Person } from './desk-fixture.ts'

type Who = Person | 'nobody'
type Visitor = ReturnType<BareDesk['browser']>
const everybody: Who[] = ['nobody', 'vera', 'otto', 'ada']

/** Each route with the least of those who may use it. */
const routes: [method: string, path: string, from: Who, form?: Record<string, string>][] = [
  ['GET', '/', 'vera'],
  ['GET', '/runs', 'vera'],
  ['GET', '/runs/:id', 'vera'],
  ['GET', '/runs/:id/compare', 'vera'],
  ['GET', '/runs/:id/records.csv', 'vera'],
  ['GET', '/runs/:id/undo', 'otto'],
  ['POST', '/runs/:id/undo', 'otto'],
  ['POST', '/runs/:id/stop', 'otto'],
  ['POST', '/runs/:id/resume', 'otto'],
  ['POST', '/runs/:id/retry', 'otto'],
  ['GET', '/records', 'vera'],
  ['GET', '/tasks/:id', 'vera'],
  ['GET', '/spend', 'vera'],
  ['GET', '/charts', 'vera'],
  ['GET', '/contract', 'vera'],
  ['GET', '/contract/:operation', 'vera'],
  ['POST', '/contract/retry', 'otto', { operation: 'job.search' }],
  ['GET', '/lists', 'vera'],
  ['GET', '/lists/:name', 'vera'],
  ['GET', '/lists/:name/review', 'vera'],
  ['GET', '/lists/:name/plans/:id', 'vera'],
  ['POST', '/lists/:name/preview', 'otto', { most: '0.05' }],
  ['POST', '/lists/:name/fetch', 'otto', { budget: '0.05' }],
  ['POST', '/lists/:name/plan', 'otto'],
  ['POST', '/lists/:name/plans/:id/apply', 'otto', { most: '0' }],
  ['POST', '/lists/:name/review', 'otto', { key: 'k', answer: 'never' }],
  ['POST', '/lists/:name/review/forget', 'otto', { key: 'k' }],
  ['GET', '/signals', 'vera'],
  ['GET', '/signals/account', 'vera'],
  ['POST', '/signals/:name/plan', 'otto'],
  ['POST', '/signals/:name/run', 'otto', { budget: '1' }],
  ['GET', '/monitors', 'vera'],
  ['GET', '/monitors/:name', 'vera'],
  ['POST', '/monitors/compare', 'otto'],
  ['POST', '/monitors/:name/pause', 'otto'],
  ['POST', '/monitors/:name/resume', 'otto'],
  ['GET', '/champions', 'vera'],
  ['POST', '/champions/:name/plan', 'otto'],
  ['POST', '/champions/:name/run', 'otto', { budget: '1' }],
  ['GET', '/failures', 'vera'],
  ['GET', '/failures/:group', 'vera'],
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
  ['POST', '/records', 'vera', { text: 'ann@acme.com' }],
  ['POST', '/tasks/:id/retry', 'otto'],
  ['POST', '/tasks/:id/skip', 'otto', { why: 'a test record' }],
  ['POST', '/spending/stop', 'otto'],
  ['POST', '/spending/resume', 'otto'],
  ['GET', '/sync', 'otto'],
  ['GET', '/sync/plans/:id', 'vera'],
  ['POST', '/sync/plans', 'otto', { source: 'hubspot companies', recipe: 'profile', limit: '5' }],
  ['POST', '/sync/plans/:id/start', 'otto'],
  ['POST', '/failures/retry', 'otto', { group: 'x' }],
  ['POST', '/failures/skip', 'otto', { group: 'x' }],
  ['POST', '/spend/reconcile', 'otto'],
  ['GET', '/schedules/run', 'otto'],
  ['POST', '/schedules/run', 'otto', { name: 'nightly' }],
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
        // A POST that changes nothing of the board is refused to all of them; so is a wrong password.
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
      '/records?state=parked',
      '/tasks/0',
      '/spend',
      '/charts',
      '/failures',
      '/settings',
      '/audit',
      '/runs/none',
      '/sync',
      '/sync/plans/none',
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

test('the page of spending names price and cap of each step', async () => {
  const desk = await openBareDesk({ open: true })
  try {
    const page = await (await desk.browser().ask('/spend')).text()
    expect(page).not.toContain('single lookup')
    const cells = (step: string) =>
      [
        ...(page.match(new RegExp(`>${step}</th>(.*?)</tr>`, 's'))?.[1] ?? '').matchAll(
          /<td[^>]*>(.*?)<\/td>/gs,
        ),
      ].map(([, cell = '']) => cell.replaceAll(/<[^>]*>/g, '').trim())
    expect(cells('contact redeem: phone')).toEqual(['$0.30', '$0.30', 'allowed'])
    expect(cells('contact redeem: email work')).toEqual(['$0.15', '$0.01', 'not bought'])
    expect(cells('company enrich').slice(0, 2)).toEqual(['not published', '$0.01'])
  } finally {
    await desk.close()
  }
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
