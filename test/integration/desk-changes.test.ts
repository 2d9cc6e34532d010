import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openBareDesk, type BareDesk } from './desk-fixture.ts'

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

  test('that resumes spending may name its reason, which the audit log keeps', async () => {
    const otto = await desk.as('otto')
    await otto.ask('/spending/resume', { form: { reason: 'the mapping is mended' } })
    expect(await desk.audit.list(1)).toMatchObject([
      { actor: 'otto', action: 'spending.resume', details: { reason: 'the mapping is mended' } },
    ])
  })

  test('is noted with who, what, when and on what', async () => {
    const otto = await desk.as('otto')
    await otto.ask('/sync/plans', {
      form: { source: 'hubspot companies', recipe: 'profile', limit: '7' },
    })
    await otto.ask('/spending/stop', { form: { reason: 'too dear' } })
    await otto.ask('/schedules/pause', { form: { name: 'nightly' } })
    const rows = await desk.audit.list(3)
    expect(rows.map(({ actor, role, action, target, at }) => ({ actor, role, action, target, at }))).toEqual([
      { actor: 'otto', role: 'operator', action: 'schedule.pause', target: 'nightly', at: desk.now() },
      { actor: 'otto', role: 'operator', action: 'spending.stop', target: undefined, at: desk.now() },
      { actor: 'otto', role: 'operator', action: 'sync.plan', target: 'hubspot companies', at: desk.now() },
    ])
    expect(rows.map(({ details }) => details)).toEqual([
      undefined,
      { reason: 'too dear' },
      { plan: 'p1', recipe: 'profile', limit: 7 },
    ])
    expect(desk.asked).toEqual([
      'plan hubspot companies profile 7',
      'stop too dear (otto)',
      'pause nightly by otto',
    ])
  })

  test.each([
    [{ limit: 'many' }, /whole number/],
    [{ limit: '0' }, /whole number/],
    [{ recipe: 'none' }, /no such recipe.*profile, full/s],
    [{ source: 'hubspot deals' }, /Choose what to sync/],
  ])('that plans a sync of %j is asked again, and plans nothing', async (wrong, problem) => {
    const otto = await desk.as('otto')
    const form = { source: 'hubspot companies', recipe: 'profile', limit: '5', ...wrong }
    const answer = await otto.ask('/sync/plans', { form })
    expect(answer.status).toBe(400)
    expect(await answer.text()).toMatch(problem)
    expect(desk.asked).toEqual([])
  })

  test('may have any text: no reason prevents a stop', async () => {
    const otto = await desk.as('otto')
    const answer = await otto.ask('/spending/stop', { form: { reason: 'all\0wrong\ud800' } })
    expect(answer.status).toBe(303)
    expect(desk.asked).toEqual([expect.stringMatching(/^stop all wrong.* \(otto\)$/)])
  })

  test('that is too large is refused before it is read', async () => {
    const otto = await desk.as('otto')
    const answer = await otto.ask('/spending/stop', { form: { reason: 'x'.repeat(70_000) } })
    expect(answer.status).toBe(413)
    expect(desk.denied).toContain('too_large')
    expect(desk.asked).toEqual([])
  })
})
