import type { Hono } from 'hono'
import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import type { LookupKey } from '../../src/domain/keys.ts'
import { readSearch } from '../../src/domain/search/search-query.ts'
import { createApp } from '../../src/http/server/app.ts'
import type { HttpEnv } from '../../src/http/server/request-id.ts'
import type { Database } from '../../src/store/database/database.ts'
import { createScheduleLedger } from '../../src/store/runs/schedules.ts'
import { findTasks, matchOf } from '../../src/store/search/find-tasks.ts'
import { indexTasks } from '../../src/store/search/index-tasks.ts'
import { addLookup, addRun, desk, minutesAgo, useDesk } from '../integration/desk-rows.fixture.ts'
import { ids, record, useRecords } from './desk-search.fixture.ts'
import { addOccurrence } from '../integration/occurrence.fixture.ts'

useDesk()
useRecords()

/** Sends the search as the form does, and returns the page with the addresses on the way. */
async function find(form: Record<string, string>) {
  const local = desk.browser()
  await local.ask('/runs')
  const posted = await local.ask('/records', { form })
  expect(posted.status).toBe(303)
  const addresses = [posted.headers.get('location') ?? '']
  let answer = await local.ask(addresses[0]!)
  while (answer.status === 303) {
    addresses.push(answer.headers.get('location') ?? '')
    answer = await local.ask(addresses.at(-1)!)
  }
  const page = await answer.text()
  const found = [...page.matchAll(/href="\/tasks\/(\d+)"/g)].map(([, id]) => BigInt(id ?? ''))
  return {
    local,
    addresses,
    page,
    status: answer.status,
    found: Object.keys(ids).filter((name) => found.includes(ids[name]!)),
  }
}

describe('records are found', () => {
  beforeEach(async () => {
    await addRun('r1', { state: 'finished' })
    await record('1', { firstName: 'Ann', lastName: 'Lee', email: 'ann@acme.com', company: 'Acme' })
    await record('2', { firstName: 'Bob', lastName: 'Leeman', domain: 'https://www.acme.com/' })
    await record('3', { profileUrl: 'https://www.profnet.com/company/acme' })
  })

  test.each([
    ['lee', ['1', '2']],
    ['LEE ann', ['1']],
    ['acme.com', ['1', '2']],
    ['Ann@Acme.com', ['1']],
    ['acme', ['1', '2']],
    ['zoe', []],
    ["'); drop table tasks; --", []],
    ["\\' :* & | !", []],
  ])('by %j', async (text, names) => {
    await record('4', { firstName: 'Annika', company: 'Acme' }, { status: 'rejected', reason: 'refused' })
    const { found, status } = await find({ text })
    expect(status).toBe(200)
    expect(found.filter((name) => name !== '4')).toEqual(names)
  })

  test('by no text of another kind, and none breaks the page', async () => {
    for (const text of [
      '\u202e\u0007<zz>'.repeat(200),
      'x'.repeat(5_000),
      '\ud800',
      'a@',
      '@',
      ':::',
      '%',
      '..',
    ]) {
      const { found, status } = await find({ text })
      expect([status, found]).toEqual([200, []])
    }
  })

  test('by a profile under every name that answers have taught, and by the id of the record', async () => {
    const key = (await addLookup('x', 'answered')) as LookupKey
    await sql`update lookups set key = 'company.profile|profnet.com/company/acme-old' where key = ${key}`.execute(
      desk.db,
    )
    await record('5', {}, { lookup: 'company.profile|profnet.com/company/acme-old' })
    await sql`update tasks set lookup_key = 'company.profile|profnet.com/company/acme-old' where record_id = '5'`.execute(
      desk.db,
    )
    for (const name of ['profnet.com/company/acme', 'profnet.com/company/acme-old'])
      await desk.db
        .insertInto('subject_names')
        .values({ name, subject: 'profnet.com/company/acme', learned_at: desk.now() })
        .execute()
    expect((await find({ text: 'http://de.profnet.example/company/ACME/?x' })).found).toEqual(['3', '5'])
    await addRun('r9', { connector: 'salesforce' })
    await record('00Q000000000001EAA', {}, { run: 'r9' })
    // All results are of one record: its page is shown.
    const { addresses } = await find({ text: '00Q000000000001' })
    expect(addresses.at(-1)).toBe('/records?q=salesforce%3Acompanies%3A00Q000000000001EAA')
  })

  test('and no name or address of a person is in an address of the desk, nor in a log', async () => {
    const { addresses, page } = await find({ text: 'ann@acme.com acme', connector: 'hubspot' })
    const { addresses: others } = await find({ text: 'ann@acme.com' })
    for (const address of [...addresses, ...others]) {
      // The sealed text is random letters, in which a short name may stand by chance: its bytes are read.
      const [before, sealed = '', after = ''] = decodeURIComponent(address).split(/(?<=[?&]s=)([\w-]+)/)
      expect(`${before}…${after}`).not.toMatch(/ann|acme/i)
      expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toMatch(/ann@|acme/i)
    }
    expect(addresses[0]).toContain('connector=hubspot')
    expect(page).toContain('value="ann@acme.com acme"')
    // An address that somebody has typed is left at once.
    const typed = await desk.browser().ask('/records?q=ann%40acme.com')
    expect(typed.headers.get('location')).toMatch(/^\/records\?s=[\w-]+$/)
    // Requests are logged by the pattern of their route.
    const logged: unknown[] = []
    const app = createApp({
      routes: [],
      onAnswer: (entry) => void logged.push(entry),
      onRefused: async () => {},
      onError: (error) => void logged.push(error),
      stopping: new AbortController().signal,
    })
    app.route('/', desk.app as unknown as Hono<HttpEnv>)
    for (const path of [
      '/records?q=ann%40acme.com',
      '/records?cause=ann%40acme.com',
      '/tasks/ann%40acme.com',
    ])
      await app.request(path, {}, { incoming: { socket: { remoteAddress: '127.0.0.1' } } } as never)
    expect(logged).toHaveLength(3)
    expect(JSON.stringify(logged)).not.toMatch(/ann|acme/)
  })

  test('without reading every record there is', async () => {
    await sql`insert into tasks (run_id, ordinal, record_id, identity, status, updated_at)
      select 'r1', 1000 + i, 'many' || i, jsonb_build_object('lastName', 'Other' || i), 'written', ${minutesAgo(60)}::timestamptz - i * interval '1 second'
      from generate_series(1, 4000) as i`.execute(desk.db)
    while ((await indexTasks(desk.db, { hosts: ['profnet.com'], now: desk.now, limit: 1_000 })) > 0);
    // The words indexed last are in a list, which the database sorts into the index by and by.
    await sql`select gin_clean_pending_list('task_words_words'::regclass)`.execute(desk.db)
    await sql`analyze`.execute(desk.db)
    const read = async (tx: Database) => {
      const { rows } = await sql<{ tuples: bigint }>`
        select pg_stat_get_xact_tuples_returned('tasks'::regclass)
          + pg_stat_get_xact_tuples_returned('task_words'::regclass) as tuples`.execute(tx)
      return Number(rows[0]?.tuples)
    }
    for (const text of ['lee', 'ann@acme.com', 'in/ann', '3']) {
      const tuples = await desk.db.transaction().execute(async (tx) => {
        const before = await read(tx)
        const match = await matchOf(tx, readSearch(text), () => [])
        await findTasks(tx, match, {}, { limit: 50 })
        return (await read(tx)) - before
      })
      expect({ text, tuples }).toEqual({ text, tuples: 0 })
    }
  })

  test('by source, schedule, state, cause and time, all of which stay in the address', async () => {
    await addRun('csv1', { connector: 'csv', source: { file: 'leads.csv' } })
    await addRun('night')
    const schedules = createScheduleLedger(desk.db, { now: desk.now })
    await schedules.register(['nightly'])
    await addOccurrence(desk.db, 'nightly', desk.now, 'night')
    const parked = await addLookup('p', 'parked', {
      code: 'budget_day',
      reason: 'the budget of this day is used up',
    })
    await record('6', { lastName: 'Lee' }, { run: 'csv1', status: 'skipped', reason: 'no profile URL' })
    await record('7', { lastName: 'Lee' }, { run: 'night', status: 'parked', lookup: parked })
    await record('8', { lastName: 'Lee' }, { run: 'night', at: minutesAgo(3 * 1440) })
    expect((await find({ connector: 'csv' })).found).toEqual(['6'])
    expect((await find({ schedule: 'nightly', text: 'lee' })).found).toEqual(['7', '8'])
    expect((await find({ state: 'parked' })).found).toEqual(['7'])
    expect((await find({ cause: 'budget_day' })).found).toEqual(['7'])
    expect((await find({ cause: 'day is used' })).found).toEqual(['7'])
    expect((await find({ cause: 'PROFILE url' })).found).toEqual(['6'])
    expect((await find({ to: '2026-11-19' })).found).toEqual(['8'])
    expect((await find({ from: '2026-11-18', schedule: 'nightly' })).found).toEqual(['7'])
    const { addresses, page } = await find({
      text: 'lee',
      state: 'written',
      from: '2026-11-01',
      to: '2026-11-30',
    })
    expect(addresses).toEqual([
      expect.stringMatching(/^\/records\?s=[\w-]+&state=written&from=2026-11-01&to=2026-11-30$/),
    ])
    expect(page).toMatch(/<option value="written" selected>/)
    expect(page).toContain('HubSpot companies (nightly)')
    expect((await find({ connector: 'csv' })).page).toContain('CSV leads.csv')
    for (const wrong of [
      'state=nonsense',
      'from=yesterday',
      'to=9999-99-99',
      'older=x',
      'newer=9.9.9',
      's=!',
      's=AAAA',
    ])
      expect((await desk.browser().ask(`/records?${wrong}`)).status).toBe(200)
  })

  test('page by page in both directions, each record once', async () => {
    // Many with the same time: the id decides.
    for (let i = 0; i < 120; i += 1)
      await record(`p${i}`, { lastName: 'Page' }, { at: minutesAgo(Math.floor(i / 40)) })
    const all: string[][] = []
    const { local, page: first, found } = await find({ text: 'page' })
    all.push(found)
    let page = first
    const turn = async (rel: 'next' | 'prev') => {
      const href = new RegExp(`rel="${rel}" href="([^"]+)"`).exec(page)?.[1]?.replaceAll('&amp;', '&')
      if (href === undefined) return undefined
      page = await (await local.ask(href)).text()
      const shown = [...page.matchAll(/href="\/tasks\/(\d+)"/g)].map(([, id]) => BigInt(id ?? ''))
      return Object.keys(ids).filter((name) => shown.includes(ids[name]!))
    }
    expect(/rel="prev"/.test(page)).toBe(false)
    for (let next = await turn('next'); next; next = await turn('next')) all.push(next)
    expect(all.map((names) => names.length)).toEqual([50, 50, 20])
    expect(new Set(all.flat()).size).toBe(120)
    expect(await turn('prev')).toEqual(all[1])
    expect(await turn('prev')).toEqual(all[0])
    expect(/rel="prev"/.test(page)).toBe(false)
  })
})
