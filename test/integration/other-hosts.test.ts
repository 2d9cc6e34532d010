import { randomBytes, randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { batchKey, lookupKey, type LookupKey } from '../../src/domain/keys.ts'
import type { StoredAnswer } from '../../src/domain/ports/charge-journal.ts'
import { createBatchLedger } from '../../src/store/ledger/batches.ts'
import { createChargeJournal } from '../../src/store/ledger/charge-journal.ts'
import { authorization } from '../support/ledger-run.ts'
import { clock, database, found, newRun, now, unlimited, useLedger } from './ledger.fixture.ts'

// Ledgers of older versions name a profile by the host that its record or its answer named. Their rows are never rewritten:
// whoever asks by another host finds them.

useLedger()

const old: StoredAnswer = { ...found, data: { name: 'Ada' } }
const paid = () => ({ transaction: '0x1', at: now() })

/** One person under two hosts. Each spelling is a lookup of its own, as an older version and this one would ask. */
async function twoHosts(type = 'phone') {
  const world = await newRun(0)
  const slug = `ada-${randomBytes(5).toString('hex')}`
  const keyOf = (host: string) => lookupKey('contact.redeem', `${host}/in/${slug}|${type}`)
  const [before, after] = [keyOf('profnet.example'), keyOf('profnet.com')]
  const want = (...keys: LookupKey[]) =>
    world.lookups.want(
      keys.map((key) => ({ key, operation: 'contact.redeem', request: { profnet_url: slug } })),
      { id: world.run.id, connector: world.connector, hot: false },
    )
  const reserve = (key: LookupKey) =>
    world.reserve(key, [{ scope: `run:${world.run.id}`, capAtomic: unlimited }], 10_000n, randomUUID())
  const spent = () => world.committed(`run:${world.run.id}`)
  return { ...world, before, after, want, reserve, spent, keyOf }
}

describe('an answer that was paid for under another host', () => {
  test('is taken over by whoever asks, with its age, and nothing is rewritten', async () => {
    const { before, after, want, reserve, journal, lookups, spent } = await twoHosts()
    await want(before)
    const charge = await reserve(before)
    await journal.settleCharge(charge, paid(), old)
    const rowsBefore = await rowsOf(before)

    clock.now = new Date('2026-06-05')
    expect((await lookups.freshFacts([after])).get(after)).toMatchObject({ data: { name: 'Ada' } })
    await want(after)
    expect(await lookups.get(after)).toMatchObject({ state: 'answered', freshUntil: found.freshUntil })
    expect((await lookups.facts([after])).get(after)).toMatchObject({
      outcome: 'found',
      data: { name: 'Ada' },
    })
    await expect(reserve(after)).rejects.toMatchObject({ code: 'ended_meanwhile', countsAsTry: false })
    expect(await spent()).toBe(10_000n)
    expect(await rowsOf(before)).toEqual(rowsBefore)
    expect((await answeredAt(after))?.getTime()).toBe((await answeredAt(before))?.getTime())
  })

  test('and that came after the question was asked is taken over instead of a charge', async () => {
    const { before, after, want, reserve, journal, lookups, spent } = await twoHosts()
    await want(before, after)
    const charge = await reserve(before)
    await journal.settleCharge(charge, paid(), { ...old, outcome: 'not_found', data: null })
    await expect(reserve(after)).rejects.toMatchObject({ code: 'ended_meanwhile' })
    expect((await lookups.facts([after])).get(after)).toMatchObject({ outcome: 'not_found' })
    expect(await spent()).toBe(10_000n)
  })

  test('is bought anew when it is stale, and of two lookups that are, the newer answer counts', async () => {
    const { before, after, want, reserve, journal, lookups } = await twoHosts()
    await want(before)
    await journal.settleCharge(await reserve(before), paid(), old)
    clock.now = new Date('2026-09-01')
    await want(after)
    expect(await lookups.get(after)).toMatchObject({ state: 'waiting' })
    const anew = { ...old, data: { name: 'Ada King' }, freshUntil: new Date('2026-12-01') }
    await journal.settleCharge(await reserve(after), paid(), anew)
    await want(before)
    expect((await lookups.facts([before])).get(before)).toMatchObject({ data: { name: 'Ada King' } })
  })

  test('does not answer another contact type, nor another person', async () => {
    const one = await twoHosts('phone')
    await one.want(one.before)
    await one.journal.settleCharge(await one.reserve(one.before), paid(), old)
    const mail = lookupKey(
      'contact.redeem',
      one.after.slice('contact.redeem|'.length, -'phone'.length) + 'email-work',
    )
    const other = lookupKey('contact.redeem', `other.example${one.after.slice(one.after.indexOf('/'))}`)
    await one.want(mail, other)
    for (const key of [mail, other]) expect(await one.reserve(key)).toMatchObject({ state: 'journaled' })
  })
})

describe('a charge that is open under another host', () => {
  test.each(['journaled', 'sent', 'in_doubt'] as const)(
    'and %s keeps its nonce, and no second one is drawn until it has ended',
    async (state) => {
      const { before, after, want, reserve, journal, spent, lookups } = await twoHosts()
      await want(before, after)
      const { id, authorization } = await reserve(before)
      if (state !== 'journaled') await journal.markSent(id, now())
      if (state === 'in_doubt') await journal.markInDoubt(id, 'no answer')
      for (let time = 0; time < 2; time += 1)
        await expect(reserve(after)).rejects.toMatchObject({
          name: 'PaymentInDoubtError',
          code: 'charge_open',
        })
      expect(await spent()).toBe(10_000n)
      expect((await journal.unanswered(before)).open).toMatchObject({ id, state, authorization })
      expect((await journal.unanswered(after)).open).toBeUndefined()

      await journal.settleCharge({ id, lookupKey: before }, paid(), old)
      await expect(reserve(after)).rejects.toMatchObject({ code: 'ended_meanwhile' })
      expect(await lookups.get(after)).toMatchObject({ state: 'answered' })
    },
  )

  test('and expires makes room for one', async () => {
    const { before, after, want, reserve, journal } = await twoHosts()
    await want(before, after)
    await journal.release((await reserve(before)).id, 'expired', 'too late')
    expect(await reserve(after)).toMatchObject({ state: 'journaled', attempt: 1 })
  })

  test('and is lost counts for the limit of what is bought again', async () => {
    const { before, after, want, reserve, journal } = await twoHosts()
    await want(before, after)
    await journal.lose((await reserve(before)).id, null, 'no answer')
    expect(await journal.unanswered(after)).toMatchObject({ open: undefined, lost: 1, lastLostAt: clock.now })
  })
})

describe('two workers that pay for one person under two hosts at once', () => {
  test('draw one charge, whoever is first', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { before, after, want, connector, run } = await twoHosts()
      await want(before, after)
      // A journal each, as two processes have it.
      const results = await Promise.allSettled(
        [before, after, after, before].map((key) =>
          createChargeJournal(database.db, { now, newId: randomUUID }).reserve({
            lookupKey: key,
            operation: 'contact.redeem',
            runId: run.id,
            connector,
            endpoint: 'e',
            url: 'u',
            body: 'b',
            amountAtomic: 10_000n,
            budget: [{ scope: `run:${run.id}`, capAtomic: unlimited }],
            draw: (attempt) => authorization(`${randomUUID()}|${attempt}`, 10_000n),
          }),
        ),
      )
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    }
  })
})

describe('a batch', () => {
  async function formed(keys: (world: Awaited<ReturnType<typeof twoHosts>>) => LookupKey[]) {
    const world = await twoHosts()
    const members = keys(world)
    await world.want(world.before, ...members)
    const bundle = batchKey(randomUUID())
    const form = () =>
      createBatchLedger(database.db, { now }).form(
        {
          key: bundle,
          operation: 'contact.redeem',
          request: { peoples: [] },
          runId: world.run.id,
          connector: world.connector,
          members: members.map((key, place) => ({ key, place })),
        },
        now(),
      )
    return { ...world, bundle, form }
  }

  test('with a member that is known under another host is not paid for, and its members go alone', async () => {
    const { bundle, form, before, after, reserve, journal, lookups } = await formed(({ after, keyOf }) => [
      after,
      keyOf('other.example'),
    ])
    expect(await form()).toBe(true)
    await journal.settleCharge(await reserve(before), paid(), old)
    await expect(reserve(bundle)).rejects.toMatchObject({ name: 'FatalError', code: 'known_member' })
    await lookups.fail(bundle, 'known')
    await expect(reserve(after)).rejects.toMatchObject({ code: 'ended_meanwhile' })
    expect(await lookups.get(after)).toMatchObject({ state: 'answered' })
  })

  test('with one person twice is not paid for', async () => {
    const { bundle, form, reserve } = await formed(({ before, after }) => [before, after])
    expect(await form()).toBe(true)
    await expect(reserve(bundle)).rejects.toMatchObject({ code: 'known_member' })
  })

  test('that is out keeps its members from being bought under another host', async () => {
    const { bundle, form, before, reserve } = await formed(({ after, keyOf }) => [
      after,
      keyOf('other.example'),
    ])
    expect(await form()).toBe(true)
    await reserve(bundle)
    await expect(reserve(before)).rejects.toMatchObject({ code: 'charge_open' })
  })
})

async function rowsOf(key: LookupKey) {
  const { db } = database
  return {
    lookup: await db.selectFrom('lookups').selectAll().where('key', '=', key).execute(),
    charges: await db.selectFrom('charges').selectAll().where('lookup_key', '=', key).execute(),
  }
}

async function answeredAt(key: LookupKey) {
  const row = await database.db
    .selectFrom('lookups')
    .select('answered_at')
    .where('key', '=', key)
    .executeTakeFirst()
  return row?.answered_at
}
