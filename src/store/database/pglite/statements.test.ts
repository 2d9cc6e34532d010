import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { layLedger } from '../../../../test/support/ledger-template.ts'
import { freshStores, type FreshStores } from '../../../../test/support/stores.ts'
import { createPGliteStatements, type PGliteStatements } from './statements.ts'

let stores: FreshStores
let client: PGlite
let statements: PGliteStatements

beforeAll(async () => {
  stores = await freshStores({})
  await layLedger(stores.dataDir)
  client = await PGlite.create(join(stores.dataDir, 'pglite'))
  await client.exec(
    'create table things (a text primary key, b bigint, c timestamptz, d jsonb, e text[], f boolean)',
  )
  statements = createPGliteStatements(client)
})
afterAll(async () => {
  await client.close()
  await stores.cleanup()
})

describe('a statement by name', () => {
  const row = ['k', 7n, new Date('2026-01-02T03:04:05.678Z'), '{"x":["é",null]}', ['q"', 'a,b', '{}'], true]

  test('stores and returns the same as PGlite itself', async () => {
    const insert = 'insert into things values ($1, $2, $3, $4, $5, $6)'
    expect(await statements.run(insert, row)).toEqual({ rows: [], affected: 1 })
    const select = 'select * from things where a = $1 and b = any($2::bigint[])'
    for (let time = 0; time < 3; time += 1) {
      const { rows } = await statements.run(select, ['k', [7n]])
      expect(rows).toEqual((await client.query(select, ['k', [7n]])).rows)
    }
  })

  test('counts the rows that it changed, and accepts null', async () => {
    const update = 'update things set b = $1, e = $2 where a = $3'
    expect((await statements.run(update, [null, null, 'k'])).affected).toBe(1)
    expect((await statements.run(update, [8n, [], 'elsewhere'])).affected).toBe(0)
    const { rows } = await statements.run('select b, e from things where a = $1', ['k'])
    expect(rows).toEqual([{ b: null, e: null }])
  })

  test('fails with the code and constraint of the database, and works again after it', async () => {
    const insert = 'insert into things (a) values ($1)'
    await expect(statements.run(insert, ['k'])).rejects.toMatchObject({
      code: '23505',
      constraint: 'things_pkey',
    })
    await expect(statements.run('select nothing from things where a = $1', ['k'])).rejects.toMatchObject({
      code: '42703',
    })
    expect((await statements.run(insert, ['l'])).affected).toBe(1)
  })

  test('rolls back with the transaction in which it failed', async () => {
    const insert = 'insert into things (a) values ($1)'
    await statements.run('begin', [])
    await statements.run(insert, ['m'])
    await expect(statements.run(insert, ['m'])).rejects.toMatchObject({ code: '23505' })
    await statements.run('rollback', [])
    const { rows } = await statements.run("select a from things where a = 'm'", [])
    expect(rows).toEqual([])
  })

  test('is planned again after the tables have had time to grow', async () => {
    // Names begin anew with those who use them: a change of a table frees all.
    await statements.run('create table others (a text)', [])
    const [made, ran] = [vi.spyOn(client, 'execProtocol'), vi.spyOn(client, 'execProtocolRawStream')]
    const select = 'select count(*)::int as count from things where b = $1'
    let clockMs = 1_000
    vi.spyOn(performance, 'now').mockImplementation(() => clockMs)
    const anew = createPGliteStatements(client)
    const runAt = async (atMs: number) => {
      const before = [made.mock.calls.length, ran.mock.calls.length] as const
      clockMs = atMs
      await anew.run(select, [1n])
      return [made.mock.calls.length - before[0], ran.mock.calls.length - before[1]]
    }
    const [again, madeAndClosed] = [
      [0, 1],
      [1, 2],
    ]
    expect(await runAt(1_000)).toEqual([1, 1])
    expect(await runAt(6_000)).toEqual(again)
    expect(await runAt(31_000)).toEqual(madeAndClosed)
    // As long again as the ledger had been open, and never longer than a minute.
    expect(await runAt(60_999)).toEqual(again)
    expect(await runAt(601_000)).toEqual(madeAndClosed)
    expect(await runAt(660_999)).toEqual(again)
    expect(await runAt(661_001)).toEqual(madeAndClosed)
    vi.restoreAllMocks()
  })

  test('is kept when a table is analysed, vacuumed or indexed anew', async () => {
    const made = vi.spyOn(client, 'execProtocol')
    const select = 'select a from things where a = $1'
    await statements.run(select, ['k'])
    const before = made.mock.calls.length
    for (const upkeep of ['analyze things', 'vacuum things', 'reindex index things_pkey', 'checkpoint']) {
      await statements.run(upkeep, [])
      expect((await statements.run(select, ['k'])).rows).toEqual([{ a: 'k' }])
    }
    expect(made.mock.calls.length).toBe(before)
    vi.restoreAllMocks()
  })

  describe('whose rows go as one parameter', () => {
    const insert =
      'insert into things (a, b) select a, b from jsonb_to_recordset($1::jsonb) as given (a text, b bigint)'
    const rows = (name: string) => [JSON.stringify([{ a: name, b: '1' }])]
    const mode = async () =>
      (await client.query<{ mode: string }>("select current_setting('plan_cache_mode') as mode")).rows[0]
        ?.mode

    test('has one plan from its first run on, and no other statement has it for that', async () => {
      expect(await statements.run(insert, rows('one'))).toEqual({ rows: [], affected: 1 })
      const { rows: plans } = await client.query(
        "select generic_plans::int, custom_plans::int from pg_prepared_statements where statement like 'insert into things (a, b)%'",
      )
      expect(plans).toEqual([{ generic_plans: 1, custom_plans: 0 }])
      expect(await mode()).toBe('auto')
    })

    test('leaves nothing set when it fails, in a transaction or a part of one', async () => {
      await expect(statements.run(insert, rows('one'))).rejects.toMatchObject({ code: '23505' })
      expect(await mode()).toBe('auto')
      await statements.run('begin', [])
      await statements.run('savepoint part', [])
      await expect(statements.run(insert, rows('one'))).rejects.toMatchObject({ code: '23505' })
      await statements.run('rollback to savepoint part', [])
      expect(await mode()).toBe('auto')
      await statements.run(insert, rows('two'))
      await expect(statements.run(insert, rows('two'))).rejects.toMatchObject({ code: '23505' })
      await statements.run('rollback', [])
      expect(await mode()).toBe('auto')
      expect((await statements.run("select a from things where a = 'two'", [])).rows).toEqual([])
    })
  })

  test('survives a change of its table', async () => {
    const select = 'select * from things where a = $1'
    await statements.run(select, ['k'])
    await statements.run('alter table things add column g int', [])
    const { rows } = await statements.run<{ g: unknown }>(select, ['k'])
    expect(rows[0]).toHaveProperty('g', null)
  })
})
