import { beforeEach, describe, expect, test } from 'vitest'
import { hashPassword } from '../../src/http/desk/access/password.ts'
import { createSessionLedger } from '../../src/store/access/sessions.ts'
import { openBareDesk, passwords, users, type BareDesk } from './desk-fixture.ts'

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
