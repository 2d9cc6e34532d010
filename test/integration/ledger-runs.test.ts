import { randomBytes, randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { LookupKey } from '../../src/domain/keys.ts'
import type { BudgetLine } from '../../src/domain/ports/charge-journal.ts'
import { openDatabase } from '../../src/store/database/database.ts'
import { ledgerId } from '../../src/store/database/meta.ts'
import { migrate } from '../../src/store/database/migrating/migrate.ts'
import { planFigures } from '../../src/store/plans/plans.ts'
import { runFigures } from '../../src/store/views/run-figures.ts'
import { spendBy } from '../../src/store/views/spend.ts'
import { createTermsCache } from '../../src/store/ledger/terms.ts'
import { authorization } from '../support/ledger-run.ts'
import { scannedTask } from '../support/scanned-task.ts'
import { freshStores } from '../support/stores.ts'
import { clock, database, found, newRun, now, unlimited, useLedger } from './ledger.fixture.ts'

useLedger()

describe('a run', () => {
  test('is gone on with while it is unfinished, and begun anew when it has ended', async () => {
    const { runs, run } = await newRun(0)
    const same = { ...run, id: `${run.id}-again` }
    expect(await runs.open(same)).toMatchObject({ resumed: true, run: { id: run.id } })
    await runs.setState(run.id, 'parked')
    expect(await runs.open(same)).toMatchObject({ resumed: true, run: { id: run.id, state: 'scanning' } })
    // A plan beside it is a run of its own, and leaves nothing.
    const plan = await runs.open({ ...same, id: `${run.id}-plan`, state: 'planned' })
    expect(plan).toMatchObject({ resumed: false, run: { id: `${run.id}-plan` } })
    await runs.dropPlanned(plan.run.id)
    expect(await runs.get(plan.run.id)).toBeUndefined()
    await runs.dropPlanned(run.id)
    expect(await runs.get(run.id)).toBeDefined()
    await runs.setState(run.id, 'finished')
    expect(await runs.open(same)).toMatchObject({ resumed: false, run: { id: same.id } })
  })

  test('that has begun keeps its tasks when it is dropped as a plan, and a plan leaves none', async () => {
    const { runs, run, tasks, db } = await newRun(0)
    const plan = { ...run, id: `${run.id}-plan` }
    await runs.open({ ...plan, state: 'planned' })
    const left = async () =>
      (await db.selectFrom('tasks').select('run_id').where('run_id', 'in', [run.id, plan.id]).execute()).map(
        (task) => task.run_id,
      )
    for (const each of [run, plan])
      await tasks.insertPage(each.id, [scannedTask(1, null, { status: 'unchanged', duplicateOf: null })], '1')
    expect((await left()).toSorted()).toEqual([run.id, plan.id])
    await runs.dropPlanned(run.id)
    await runs.dropPlanned(plan.id)
    expect(await left()).toEqual([run.id])
  })

  test('has its figures from the ledger', async () => {
    const { runs, run, tasks, keys, reserve, journal, connector, db } = await newRun(5)
    const budget: BudgetLine[] = [{ scope: `run:${run.id}`, capAtomic: unlimited }]
    const task = (ordinal: number, key: LookupKey | null, duplicateOf: number | null = null) =>
      scannedTask(ordinal, key, { status: 'unchanged', duplicateOf })
    const [bought, missing, lost, doubt, free] = keys as [
      LookupKey,
      LookupKey,
      LookupKey,
      LookupKey,
      LookupKey,
    ]
    await tasks.insertPage(
      run.id,
      [...keys.map((key, index) => task(index + 1, key)), task(6, bought, 1), task(7, null)],
      '7',
    )
    const notFound = { outcome: 'not_found', data: null, freshUntil: new Date('2026-06-01') } as const
    const charges = []
    for (const key of [bought, missing, lost, doubt]) charges.push(await reserve(key, budget))
    const ids = charges.map(({ id }) => id)
    for (const id of ids) await journal.markSent(id, clock.now)
    await journal.settleCharge(charges[0]!, { transaction: '0x1', at: clock.now }, found)
    await journal.settleCharge(charges[1]!, { transaction: '0x2', at: clock.now }, notFound)
    await journal.lose(ids[2]!, '0x3', 'gone')
    await journal.markInDoubt(ids[3]!, 'time-out')
    await journal.storeFreeAnswer(free, found)
    await runs.countRequests(run.id, { unpaid: 1, rateLimited: 3 })
    expect(await runFigures(db, run.id)).toMatchObject({
      lookups: { unique: 5, paid: 2, cached: 1, notFound: 1, duplicates: 1, open: 2 },
      spend: { settledAtomic: 20_000n, inDoubtAtomic: 10_000n, lostAtomic: 10_000n, creditsAtomic: 0n },
      requests: { sent: 5, rateLimited: 3 },
    })
    expect(await runs.spent(run.id)).toEqual({ settledAtomic: 20_000n, creditsAtomic: 0n })
    expect(await tasks.underWay(run.id, 2)).toEqual({ records: 0, bought: 2 })
    // Two records with one of two steps answered, and one whose values are about to be written.
    await sql`update tasks set status = 'looking_up', waiting_for = ${free}, steps = ${[bought]}
      where run_id = ${run.id} and ordinal in (1, 6)`.execute(db)
    await sql`update tasks set status = 'ready', steps = ${[missing]}
      where run_id = ${run.id} and ordinal = 2`.execute(db)
    expect(await tasks.underWay(run.id, 2)).toEqual({ records: 2, bought: 2 })
    expect((await spendBy(db, 'connector')).find(({ name }) => name === connector)).toEqual({
      name: connector,
      currency: 'USD',
      charges: 3,
      settledAtomic: 20_000n,
      inDoubtAtomic: 10_000n,
      lostAtomic: 10_000n,
    })
    expect(await planFigures(db, run.id, clock.now)).toMatchObject({ unique: 5, cached: 3, duplicates: 1 })
    expect(await planFigures(db, run.id, new Date('2026-07-01'))).toMatchObject({ cached: 2 })
  })

  test('comes out in the order of its rows, page by page, each duplicate naming its first', async () => {
    const { run, tasks, keys } = await newRun(1)
    const rows = [3, 1, 2, 5, 4].map((ordinal) =>
      scannedTask(ordinal, keys[0]!, {
        recordId: `line ${ordinal * 10}`,
        status: 'skipped',
        duplicateOf: ordinal > 1 ? 1 : null,
      }),
    )
    await tasks.insertPage(run.id, rows, '5')
    const pages = [
      await tasks.page(run.id, 0, 3),
      await tasks.page(run.id, 3, 3),
      await tasks.page(run.id, 5, 3),
    ]
    expect(pages.map((page) => page.map(({ ordinal }) => ordinal))).toEqual([[1, 2, 3], [4, 5], []])
    expect(pages[1]?.[0]).toMatchObject({ recordId: 'line 40', duplicateOf: 'line 10' })
    expect(await tasks.firstOrdinals(run.id, keys)).toEqual(new Map([[keys[0], 1]]))
    expect(await tasks.lastOrdinal(run.id)).toBe(5)
  })

  test('is stored once where two processes read the same source: the second reads on behind the first', async () => {
    const { run, runs, tasks } = await newRun(0)
    const page = [1, 2].map((ordinal) =>
      scannedTask(ordinal, null, { recordId: `line ${ordinal}`, status: 'skipped' }),
    )
    await tasks.insertPage(run.id, page, '2')
    await expect(tasks.insertPage(run.id, page.slice(1), 'other')).rejects.toMatchObject({
      name: 'RetriableError',
      code: 'read_elsewhere',
      countsAsTry: false,
    })
    expect(await runs.get(run.id)).toMatchObject({ records: 2, watermark: '2' })
  })
})

describe('the terms of an endpoint', () => {
  const terms = { ...authorization('x', 10_000n).terms }

  test('are known to other processes, and to this one for a minute without asking', async () => {
    const { db } = database
    const endpoint = `POST https://${randomUUID()}.example`
    const [one, other] = [createTermsCache(db, { now }), createTermsCache(db, { now })]
    expect(await one.terms(endpoint)).toBeUndefined()
    await one.remember(endpoint, terms)
    expect(await other.terms(endpoint)).toEqual(terms)
    await one.forget(endpoint)
    expect(await one.terms(endpoint)).toBeUndefined()
    expect(await other.terms(endpoint)).toEqual(terms)
    clock.now = new Date(clock.now.getTime() + 60_001)
    expect(await other.terms(endpoint)).toBeUndefined()
  })

  test('name a recipient that whoever comes first pins for good', async () => {
    const host = `${randomUUID()}.example`
    const [one, other] = [createTermsCache(database.db, { now }), createTermsCache(database.db, { now })]
    expect(await one.pinnedRecipient(host, 'x402')).toBeUndefined()
    const pinned = await Promise.all([
      one.pinRecipient(host, 'x402', '0x1'),
      other.pinRecipient(host, 'x402', '0x2'),
    ])
    expect(new Set(pinned).size).toBe(1)
    expect(await other.pinnedRecipient(host, 'x402')).toBe(pinned[0])
    expect(await other.pinnedRecipient(host, 'mpp')).toBeUndefined()
  })

  test('are asked for again after a day where the service keeps no answers by payment id', async () => {
    const { db } = database
    const endpoint = `POST https://later.test/${randomUUID()}`
    const at = (hours: number) =>
      createTermsCache(db, { now: () => new Date(now().getTime() + hours * 3_600_000) })
    await at(0).remember(endpoint, { ...terms, protocol: 'x402', paymentIdentifier: false })
    expect(await at(23).terms(endpoint)).toBeDefined()
    expect(await at(25).terms(endpoint)).toBeUndefined()
    await at(25).remember(endpoint, { ...terms, protocol: 'x402', paymentIdentifier: true })
    expect(await at(1_000).terms(endpoint)).toBeDefined()
  })
})

describe('the schema', () => {
  test('is brought up to date by whoever comes first, however many come at once, and then left alone', async () => {
    const isShared = database.kind === 'postgres'
    await Promise.all(Array.from({ length: 3 }, () => migrate(database.db, { isShared })))
    const { db } = database
    const id = await ledgerId(db, randomBytes)
    expect(id).toMatch(/^[0-9a-f]{32}$/)
    expect(await Promise.all([ledgerId(db, randomBytes), ledgerId(db, randomBytes)])).toEqual([id, id])
  })

  test.skipIf(!process.env['DATABASE_URL'])(
    'is made once by four processes that meet an empty database (needs a server: PGlite has room for one)',
    async () => {
      const empty = await freshStores()
      try {
        const opened = await Promise.all(
          Array.from({ length: 4 }, () => openDatabase({ dataDir: empty.dataDir, url: empty.databaseUrl! })),
        )
        const ids = await Promise.all(opened.map(({ db }) => ledgerId(db, randomBytes)))
        expect(new Set(ids).size).toBe(1)
        await Promise.all(opened.map(({ close }) => close()))
      } finally {
        await empty.cleanup()
      }
    },
  )

  test('of a newer paydirt is not touched', async () => {
    const { db } = database
    const migrations = db as unknown as {
      insertInto(table: 'migrations'): { values(row: object): { execute(): Promise<unknown> } }
      deleteFrom(table: 'migrations'): {
        where(a: string, b: string, c: string): { execute(): Promise<unknown> }
      }
    }
    await migrations.insertInto('migrations').values({ name: '0000-later' }).execute()
    try {
      await expect(migrate(db, { isShared: true })).rejects.toMatchObject({
        name: 'ConfigError',
        code: 'newer_schema',
      })
    } finally {
      await migrations.deleteFrom('migrations').where('name', '=', '0000-later').execute()
    }
  })

  test('keeps money that is above what JSON and floats can hold', async () => {
    const { id, keys, reserve, committed } = await newRun(1)
    await reserve(keys[0]!, [{ scope: `big:${id}`, capAtomic: unlimited }], 2n ** 62n)
    expect(await committed(`big:${id}`)).toBe(2n ** 62n)
  })
})
