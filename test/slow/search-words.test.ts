import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { Context } from '../../src/app/context/context.ts'
import { makeRestSearchable } from '../../src/app/upkeep/maintenance.ts'
import { isEmbedded } from '../../src/store/database/embedded.ts'
import { indexNewTasks, indexTasks, unsearchable } from '../../src/store/search/index-tasks.ts'
import { eraseSubject } from '../../src/store/subjects/erase-subject.ts'
import { addLookup, addRun, desk, minutesAgo, useDesk } from '../integration/desk-rows.fixture.ts'
import { ids, record, useRecords } from './desk-search.fixture.ts'

useDesk()
useRecords()

const search = () =>
  indexTasks(desk.db, { hosts: ['profnet.com', 'profnet.example'], now: desk.now, limit: 100 })

describe('the text by which a record is found', () => {
  const words = async () =>
    (
      await sql<{
        id: bigint
        words: string
      }>`select task_id as id, words::text from task_words order by 1`.execute(desk.db)
    ).rows

  test('is read once, also of tasks that another version has added, and again when a task has ended', async () => {
    await addRun('r1')
    await addRun('plan', { state: 'planned' })
    const lookup = await addLookup('a', 'waiting')
    await record('1', { lastName: 'Lee' }, { status: 'looking_up', lookup, at: minutesAgo(9) })
    await record('2', { lastName: 'Planned' }, { run: 'plan' })
    expect(await search()).toBe(1)
    expect(await search()).toBe(0)
    expect(await words()).toMatchObject([{ id: ids['1'], words: "'lee'" }])
    await desk.db
      .updateTable('tasks')
      .set({
        status: 'written',
        waiting_for: null,
        patch: JSON.stringify({ email: { set: 'found@acme.com' } }),
        updated_at: desk.now(),
      })
      .where('record_id', '=', '1')
      .execute()
    expect(await search()).toBe(1)
    expect((await words())[0]?.words).toBe("'acme.com' 'found@acme.com' 'lee'")
    expect(await unsearchable(desk.db, 10)).toBe(1)
  })

  test('is read at the end of a command in pages, after each of which the ledger is kept small', async () => {
    await addRun('r1')
    await sql`insert into tasks (run_id, ordinal, record_id, identity, status, updated_at)
      select 'r1', i, 'many' || i, jsonb_build_object('lastName', 'Other' || i), 'written', now() - interval '1 minute'
      from generate_series(1, 2500) as i`.execute(desk.db)
    let compressed = 0
    const pages = { compress: async () => (compressed += 1) % 2 === 1, settle: async () => 0 }
    const database = { db: desk.db, kind: 'pglite', pages } as unknown as Context['database']
    const context = { database, config: { networkHosts: ['profnet.com'] }, now: desk.now }
    await makeRestSearchable(context as unknown as Context, new AbortController().signal)
    expect(await words()).toHaveLength(2_500)
    // Twice each, as long as pages wait.
    expect(compressed).toBe(4)
  })

  test('is read once by a command that reads it at its end, and not again there', async () => {
    await addRun('r1')
    const read = () => indexNewTasks(desk.db, { hosts: ['profnet.com'], limit: 10 })
    for (let i = 0; i < 12; i += 1) await record(`n${i}`, { lastName: `Name${i}` }, { at: minutesAgo(1) })
    expect([await read(), await read(), await read()]).toEqual([10, 2, 0])
    expect(await words()).toHaveLength(12)
    await desk.db
      .updateTable('tasks')
      .set({ patch: JSON.stringify({ company_name: { set: 'Found' } }), updated_at: desk.now() })
      .where('record_id', '=', 'n3')
      .execute()
    expect(await read()).toBe(0)
    expect(await search()).toBe(1)
    expect((await words()).find(({ id }) => id === ids['n3'])?.words).toContain("'found'")
  })

  test('is read page by page, and a page that was not committed is read again', async () => {
    await addRun('r1')
    for (let i = 0; i < 25; i += 1) await record(`n${i}`, { lastName: `Name${i}` })
    const pages = []
    for (let read = -1; read !== 0;) {
      read = await indexTasks(desk.db, { hosts: ['profnet.com'], now: desk.now, limit: 10 })
      pages.push(read)
    }
    expect(pages).toEqual([10, 10, 5, 0])
    // As a transaction that has taken lower ids and is committed later.
    await sql`delete from task_words where task_id = ${ids['n3']}`.execute(desk.db)
    expect(await search()).toBe(1)
  })

  test('is read again page by page while tasks end faster, with a look back now and then', async () => {
    await addRun('r1')
    let now = desk.now()
    const page = () => indexTasks(desk.db, { hosts: ['profnet.com'], now: () => now, limit: 10 })
    const end = (like: string, at: Date) =>
      sql`update tasks set status = 'written', updated_at = ${at}, patch = '{"email":{"set":"x@acme.com"}}'
        where record_id like ${like}`.execute(desk.db)
    const found = async (like: string) =>
      (
        await sql<{ count: number }>`select count(*)::int as count from task_words join tasks on id = task_id
          where record_id like ${like} and words::text like '%acme%'`.execute(desk.db)
      ).rows[0]?.count
    const later = (ms: number) => new Date(now.getTime() + ms)
    for (let i = 0; i < 35; i += 1) await record(`n${i}`, { lastName: 'Lee' }, { at: minutesAgo(30) })
    for (const each of ['soon', 'late', 'later'])
      await record(each, { lastName: 'Lee' }, { at: minutesAgo(30) })
    while ((await page()) > 0);
    now = later(1_000)
    // More than a page, all at one time.
    await end('n%', now)
    now = later(1_000)
    expect(await page()).toBe(10)
    // Transactions that began before them are committed now: one soon after, which the next page meets, and one long after.
    await end('soon', later(-2_000))
    await end('late', later(-20_000))
    expect(await page()).toBe(10)
    expect(await found('soon')).toBe(1)
    expect([await found('late'), await found('n%')]).toEqual([0, 19])
    now = later(30_000)
    expect(await page()).toBe(10)
    expect(await found('late')).toBe(1)
    await end('later', later(-40_000))
    expect(await page()).toBe(7)
    expect([await found('later'), await found('n%')]).toEqual([0, 35])
    // Everything is read. Its last minutes are read again twice a minute, and not with each page.
    expect(await page()).toBe(0)
    now = later(30_000)
    expect(await page()).toBe(1)
    expect(await found('later')).toBe(1)
    expect(await page()).toBe(0)
  })

  test('of tasks that were committed late is read twice a minute, however many came after them', async () => {
    await addRun('r1')
    let now = desk.now()
    const page = () => indexTasks(desk.db, { hosts: ['profnet.com'], now: () => now, limit: 10 })
    const lost = async () =>
      (
        await sql<{ count: number }>`select count(*)::int as count from tasks
          where not exists (select from task_words where task_id = tasks.id)`.execute(desk.db)
      ).rows[0]?.count
    const many = (name: string, count: number) =>
      sql`insert into tasks (run_id, ordinal, record_id, identity, status, updated_at)
        select 'r1', (select count(*) from tasks) + i, ${name} || i, '{"lastName":"Lee"}', 'queued', now() - interval '1 hour'
        from generate_series(1, ${count}::int) as i`.execute(desk.db)
    await many('before', 30)
    while ((await page()) > 0);
    await many('late', 25)
    // The embedded ledger has one transaction at a time, and looks back over fewer.
    await many('after', isEmbedded(desk.db) ? 4_000 : 6_000)
    while ((await indexTasks(desk.db, { hosts: [], now: () => now, limit: 2_000 })) > 0);
    expect(await lost()).toBe(0)
    // As a transaction that has taken lower ids and is committed when thousands of others have been read.
    const commitLate = () =>
      sql`delete from task_words where task_id in (select id from tasks where record_id like 'late%')`.execute(
        desk.db,
      )
    await commitLate()
    expect([await page(), await lost()]).toEqual([0, 25])
    now = new Date(now.getTime() + 30_000)
    // More than a page of them: the next page looks back too.
    expect([await page(), await page(), await page(), await lost()]).toEqual([10, 10, 5, 0])
    expect(await page()).toBe(0)
    // Committed after a look back had passed its ids.
    await commitLate()
    now = new Date(now.getTime() + 30_000)
    expect([await page(), await page(), await page(), await lost()]).toEqual([10, 10, 5, 0])
  })

  test('of a subject is erased with it', async () => {
    await addRun('r1')
    await record('1', { lastName: 'Lee' }, { at: minutesAgo(2) })
    await search()
    const subject = { identifiers: [], taskIds: [ids['1']!], lookups: [], names: [], contested: [] }
    await eraseSubject(desk.db, subject, { now: desk.now, token: () => 't' })
    expect(await words()).toEqual([])
    await search()
    expect((await words())[0]?.words).toBe('')
  })

  test('of a forgotten subject comes back at most until the next pass', async () => {
    await addRun('r1')
    await record('1', { lastName: 'Lee' }, { at: minutesAgo(2) })
    await search()
    // As forget does it, and a reading of the time before it that is stored after it.
    await desk.db
      .updateTable('tasks')
      .set({ identity: '{}', updated_at: desk.now() })
      .where('record_id', '=', '1')
      .execute()
    expect((await words())[0]?.words).toBe("'lee'")
    await search()
    expect((await words())[0]?.words).toBe('')
  })
})
