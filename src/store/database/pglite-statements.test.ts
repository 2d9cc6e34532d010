import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { layLedger } from '../../../test/support/ledger-template.ts'
import { freshStores, type FreshStores } from '../../../test/support/stores.ts'
import { createPGliteStatements, type PGliteStatements } from './pglite-statements.ts'

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
    const parse = vi.spyOn(client, 'execProtocol')
    const select = 'select count(*)::int as count from things where b = $1'
    await statements.run(select, [1n])
    const first = parse.mock.calls.length
    await statements.run(select, [1n])
    expect(parse.mock.calls.length - first).toBe(1)
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 6_000)
    await statements.run(select, [1n])
    // Closed, made and run.
    expect(parse.mock.calls.length - first).toBe(4)
    vi.restoreAllMocks()
  })

  test('survives a change of its table', async () => {
    const select = 'select * from things where a = $1'
    await statements.run(select, ['k'])
    await statements.run('alter table things add column g int', [])
    const { rows } = await statements.run<{ g: unknown }>(select, ['k'])
    expect(rows[0]).toHaveProperty('g', null)
  })
})
