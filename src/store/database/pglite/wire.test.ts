import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { layLedger } from '../../../../test/support/ledger-template.ts'
import { testSeed } from '../../../../test/support/seed.ts'
import { freshStores, type FreshStores } from '../../../../test/support/stores.ts'
import { createPGliteStatements, type PGliteStatements } from './statements.ts'

let stores: FreshStores
let client: PGlite
let statements: PGliteStatements

beforeAll(async () => {
  stores = await freshStores({})
  await layLedger(stores.dataDir)
  client = await PGlite.create(join(stores.dataDir, 'pglite'))
  statements = createPGliteStatements(client)
})
afterAll(async () => {
  await client.close()
  await stores.cleanup()
})

/** Text that Postgres can hold. */
const text = fc.string({ unit: 'binary' }).map((value) => value.replaceAll('\0', ''))

test('every text and every null comes back as it was given', async () => {
  const values = fc.tuple(fc.option(text), fc.option(text), fc.option(text))
  await fc.assert(
    fc.asyncProperty(values, async ([a, b, c]) => {
      const { rows } = await statements.run('select $1::text as a, $2::text as b, $3::text as c', [a, b, c])
      expect(rows).toEqual([{ a, b, c }])
    }),
    { seed: testSeed(), numRuns: 300 },
  )
})

test('values of every kind come back as PGlite itself reads them', async () => {
  const select = `select $1::bigint as big, 1.5::float8 as real, 1.5::numeric as exact, true as yes, null::int as none,
    array['a', null, 'b,"c"'] as list, '{"a":["é"]}'::jsonb as json, '2026-01-02T03:04:05.678Z'::timestamptz as at,
    '\\x00ff'::bytea as bytes, 'x'::name as name, 7::int2 as small, row(1, 'a') as record, 1 as twice, 2 as twice`
  const { rows } = await statements.run(select, [9_007_199_254_740_993n])
  expect(rows).toEqual((await client.query(select, [9_007_199_254_740_993n])).rows)
})

test('a list of any texts comes back as PGlite itself reads it', async () => {
  const word = fc.constantFrom(
    'a',
    'acme.com',
    'NULL',
    'null',
    '',
    ' ',
    '{',
    '}',
    'a,b',
    '"',
    '\\',
    'é',
    null,
  )
  const list = fc.oneof(fc.array(word), fc.array(fc.oneof(text, word)))
  await fc.assert(
    fc.asyncProperty(list, async (texts) => {
      const { rows } = await statements.run('select $1::text[] as list', [texts])
      expect(rows).toEqual([{ list: texts }])
    }),
    { seed: testSeed(), numRuns: 300 },
  )
  const nested = `select array[array['a', 'b'], array['c', 'd']] as square, '[2:3]={a,b}'::text[] as shifted, $1::text[] as list`
  expect(await statements.run(nested, [['a']])).toMatchObject({
    rows: (await client.query(nested, [['a']])).rows,
  })
})

test('an answer of many pieces is read as a whole', async () => {
  const select = `select n, repeat('é', n) as text from generate_series(1, $1::int) as n`
  const { rows } = await statements.run<{ n: number; text: string }>(select, [3_000])
  expect(rows).toHaveLength(3_000)
  expect(rows.every(({ n, text: long }) => long === 'é'.repeat(n))).toBe(true)
})

test('what follows an answer of one statement is not part of it', async () => {
  await statements.run('select n from generate_series(1, $1::int) as n', [2_000])
  expect(await statements.run('select $1::int as n', [1])).toEqual({ rows: [{ n: 1 }], affected: 0 })
})

test('an error is that of PGlite itself', async () => {
  await client.exec(
    'create table limited (a text primary key, b int constraint positive check (b > 0) not null)',
  )
  const failing: [sql: string, values: unknown[]][] = [
    ['insert into limited values ($1, $2)', ['é', -1]],
    ['insert into limited values ($1, $2)', ['k', null]],
    ['select 1 / $1::int as none', [0]],
    ['select $1::int as number', ['no number']],
  ]
  const errorOf = (run: Promise<unknown>) =>
    run.then(
      () => undefined,
      (error: unknown) => error,
    )
  for (const [sql, values] of failing) {
    const ours = await errorOf(statements.run(sql, values))
    const theirs = await errorOf(client.query(sql, values))
    // PGlite adds what was asked; the length is that of the message on the wire.
    const added = new Set(['query', 'params', 'queryOptions', 'length'])
    const fields = Object.entries(theirs as object).filter(([name]) => !added.has(name))
    expect(Object.fromEntries(fields)).toHaveProperty('code')
    expect(ours).toMatchObject(Object.fromEntries(fields))
    expect(ours).toMatchObject({ message: (theirs as Error).message })
    expect(ours?.constructor).toBe(theirs?.constructor)
  }
})
