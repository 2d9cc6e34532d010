import { beforeEach, describe, expect, test } from 'vitest'
import { hashPassword } from '../../src/http/desk/access/password.ts'
import { openBareDesk, passwords, users, type BareDesk } from './desk-fixture.ts'

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
    // Its live updates go on for as long as it is open, and are opened anew after each break.
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
