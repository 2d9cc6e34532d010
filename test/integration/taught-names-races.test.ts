import { randomUUID } from 'node:crypto'
import type { Transaction } from 'kysely'
import { describe, expect, test } from 'vitest'
import { defaultNetworkHosts, lookupKey, type LookupKey } from '../../src/domain/keys.ts'
import type { Tables } from '../../src/store/database/tables/schema.ts'
import { storeAnswers } from '../../src/store/ledger/answers.ts'
import { inOneTrip } from '../../src/store/database/postgres/one-trip.ts'
import { namesAhead, type NameRow, type NamesAhead } from '../../src/store/names/learn-names.ts'
import { findNamesakes, refuseBoughtElsewhere } from '../../src/store/ledger/bought-elsewhere.ts'
import { createChargeJournal } from '../../src/store/ledger/charge-journal.ts'
import { authorization } from '../support/ledger-run.ts'
import { database, newRun, now, unlimited, useLedger } from './ledger.fixture.ts'
import { atUrl, openEnricher, somebody } from './taught-names.fixture.ts'

// The crash and race windows of names (docs/decisions/0015-one-subject.md).

useLedger()

test('an answer whose names cannot be stored is stored all the same', async () => {
  const { db } = database
  const { lookups, journal, reserve, keys } = await newRun(1)
  const charge = await reserve(keys[0]!, [{ scope: 'run:x', capAtomic: unlimited }])
  await db.schema.alterTable('subject_names').renameTo('away').execute()
  try {
    const data = { profnet_url: 'https://www.profnet.com/company/x' }
    const answer = { outcome: 'found' as const, data, freshUntil: new Date('2026-08-01') }
    await journal.settleCharge(charge, { transaction: '0x1', at: now() }, answer)
  } finally {
    await db.schema.alterTable('away').renameTo('subject_names').execute()
  }
  expect(await lookups.get(keys[0]!)).toMatchObject({ state: 'answered' })
})

describe('at once', () => {
  const answer = (data: Record<string, unknown>) => ({
    outcome: 'found' as const,
    data,
    freshUntil: new Date('2026-08-01'),
  })
  const paid = () => ({ transaction: '0x1', at: now() })

  async function askedAs(names: readonly string[]) {
    const world = await newRun(0)
    const keys = names.map((name) => lookupKey('person.profile', `profnet.com/in/${name}`))
    const wanted = keys.map((key) => ({ key, operation: 'person.profile' as const, request: {} }))
    await world.lookups.want(wanted, { id: world.run.id, connector: world.connector, hot: false })
    // A journal each, as processes have it.
    const buy = async (key: LookupKey) => {
      const journal = createChargeJournal(database.db, { now, newId: randomUUID })
      const charge = await journal.reserve({
        lookupKey: key,
        operation: 'person.profile',
        runId: world.run.id,
        connector: world.connector,
        endpoint: 'e',
        url: 'u',
        body: 'b',
        amountAtomic: 10_000n,
        budget: [{ scope: `run:${world.run.id}`, capAtomic: unlimited }],
        draw: () => authorization(randomUUID(), 10_000n),
      })
      return { journal, charge }
    }
    return { ...world, keys, buy }
  }

  test('answers that teach the same names are all stored, and agree', async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = randomUUID()
      const { keys, buy, lookups } = await askedAs(['a', 'b', 'c', 'd'].map((letter) => `${letter}-${id}`))
      const charges = await Promise.all(keys.map(buy))
      const data = { profnet_url: `https://www.profnet.com/in/now-${id}`, profnet_uid: id }
      await Promise.all(
        charges.map(({ journal, charge }) => journal.settleCharge(charge, paid(), answer(data))),
      )
      expect((await lookups.facts(keys)).size).toBe(4)
      const rows = await database.db
        .selectFrom('subject_names')
        .select('subject')
        .where('name', 'like', `%${id}`)
        .execute()
      expect(rows.map(({ subject }) => subject)).toEqual(Array(6).fill(`profnet.com/in/now-${id}`))
    }
  })

  test('one charge is drawn for two names that were taught while both were asked for', async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = randomUUID()
      const { keys, buy } = await askedAs([`one-${id}`, `two-${id}`])
      const rows = keys.map((key) => ({
        name: key.slice('person.profile|'.length),
        subject: `profnet.com/in/now-${id}`,
        learned_at: now(),
      }))
      await database.db.insertInto('subject_names').values(rows).execute()
      const drawn = await Promise.allSettled([...keys, ...keys].map(buy))
      expect(drawn.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    }
  })
})

describe('a transaction that dies', () => {
  const dies = (work: (tx: Transaction<Tables>) => Promise<unknown>) =>
    expect(
      database.db.transaction().execute(async (tx) => {
        await work(tx)
        throw new Error('killed')
      }),
    ).rejects.toThrow('killed')

  test('before the commit of an answer leaves neither the answer nor its names', async () => {
    const { lookups, keys } = await newRun(1)
    const [key] = keys as [LookupKey]
    const profile = `profnet.com/company/${randomUUID()}`
    const data = { profnet_url: `https://${profile}` }
    const answer = { outcome: 'found' as const, data, freshUntil: new Date('2026-08-01') }
    const store = (tx: Transaction<Tables>) =>
      storeAnswers(tx, [{ key, answer }], { at: now(), hosts: defaultNetworkHosts })
    const left = async () => ({
      state: (await lookups.get(key))?.state,
      names: (
        await database.db.selectFrom('subject_names').select('name').where('subject', '=', profile).execute()
      ).length,
    })
    await dies(store)
    expect(await left()).toEqual({ state: 'waiting', names: 0 })
    await database.db.transaction().execute(store)
    expect(await left()).toEqual({ state: 'answered', names: 2 })
  })

  test('after an answer was taken over leaves the lookup to the next one, which takes it over', async () => {
    const { enrich, lookups, reserve, run, connector } = await openEnricher()
    const one = somebody()
    const key = lookupKey('person.profile', `profnet.example/in/${one.slug}`)
    await enrich('person', atUrl(`in/${one.slug}`), 'profile')
    // As `want` leaves it when it is killed between its two statements.
    await database.db
      .insertInto('lookups')
      .values({
        key,
        operation: 'person.profile',
        request: '{}',
        state: 'waiting',
        run_id: run.id,
        connector,
        due_at: now(),
      })
      .execute()
    const refuse = async (tx: Transaction<Tables>) => {
      const namesakes = await findNamesakes(tx, [key], defaultNetworkHosts)
      const rows = await tx.selectFrom('lookups').select('key').forNoKeyUpdate().execute()
      const existing = new Set(rows.map((row) => row.key))
      return refuseBoughtElsewhere(tx, namesakes, { existing, at: now() })
    }
    await dies(refuse)
    expect(await lookups.get(key)).toMatchObject({ state: 'waiting' })
    const budget = [{ scope: `run:${run.id}`, capAtomic: unlimited }]
    await expect(reserve(key, budget)).rejects.toMatchObject({ code: 'ended_meanwhile' })
    expect(await lookups.get(key)).toMatchObject({ state: 'answered' })
  })
})

test('names that are taught between their reading and the lock are an error, and are then learned with', async () => {
  const { db } = database
  const profile = `https://www.profnet.com/in/now-${randomUUID()}`
  const taught = ['a', 'b'].map((letter) => ({
    key: lookupKey('person.profile', `profnet.com/in/${letter}-${randomUUID()}`),
    data: { profnet_url: profile },
  }))
  const [first, second] = taught.map((each) => namesAhead([each], defaultNetworkHosts)) as [
    NamesAhead,
    NamesAhead,
  ]
  const learn = ({ rows }: { rows: readonly NameRow[] }, names: NamesAhead) =>
    db.transaction().execute((tx) => inOneTrip(tx, ...names.learning(rows, now())))
  const [knownOfFirst, knownOfSecond] = [await first.reading.execute(db), await second.reading.execute(db)]
  await learn(knownOfFirst, first)
  await expect(learn(knownOfSecond, second)).rejects.toMatchObject({ code: '22P02' })
  await learn(await second.reading.execute(db), second)
  const { rows } = await second.reading.execute(db)
  expect(rows).toHaveLength(3)
  // Nothing new is nothing to store.
  expect(second.learning(rows, now())).toEqual([])
})
