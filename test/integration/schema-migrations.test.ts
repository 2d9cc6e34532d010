import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { openDatabase, type Database, type OpenDatabase } from '../../src/store/database/database.ts'
import { migrate } from '../../src/store/database/migrating/migrate.ts'
import type { Migration } from '../../src/store/migrations/migration.ts'
import { migrations } from '../../src/store/database/migrating/migrations.ts'
import { compareSchema, readSchema } from '../../src/store/database/migrating/schema-state.ts'
import { layLedger } from '../support/ledger-template.ts'
import { freshStores, type FreshStores } from '../support/stores.ts'

let stores: FreshStores
let database: OpenDatabase
let db: Database
let isShared: boolean

beforeAll(async () => {
  stores = await freshStores()
  await layLedger(stores.dataDir)
  database = await openDatabase({ dataDir: stores.dataDir, url: stores.databaseUrl })
  db = database.db
  isShared = database.kind === 'postgres'
  await sql`create table words (id bigint primary key, word text not null)`.execute(db)
  await sql`insert into words select n, 'word ' || n from generate_series(1, 2000) n`.execute(db)
})
afterAll(async () => {
  await database?.close()
  await stores?.cleanup()
})

/** Each test has a migration of its own, so that none depends on another's. */
let next = 9000
function make(migration: Partial<Migration>): Migration {
  next += 1
  return { name: `${next}-test`, statements: '', ...migration }
}

async function leave({ name }: Migration): Promise<void> {
  await sql`delete from schema_changes where name = ${name}`.execute(db)
}

async function isValid(index: string): Promise<boolean | undefined> {
  const { rows } = await sql<{ valid: boolean }>`
    select indisvalid as valid from pg_index where indexrelid = to_regclass(${index})`.execute(db)
  return rows[0]?.valid
}

function messages() {
  const lines: string[] = []
  return { lines, onStep: (line: string) => void lines.push(line) }
}

describe('the schema', () => {
  test('notes migrations after 0038 where programs of before do not look', async () => {
    const { rows } = await sql<{
      name: string
    }>`select name from migrations order by name desc limit 1`.execute(db)
    expect(rows[0]?.name).toMatch(/^0038-/)
    const { applied } = await readSchema(db)
    expect([...applied.keys()].sort()).toEqual(migrations.map(({ name }) => name).sort())
    expect([...applied.values()].every(Boolean)).toBe(true)
  })

  test('has no constraint that was never validated', async () => {
    const { rows } = await sql`select conname from pg_constraint where not convalidated`.execute(db)
    expect(rows).toEqual([])
  })

  test('of a newer version that only added is run on', async () => {
    const added = make({ statements: 'create table later (id bigint primary key);' })
    await migrate(db, { isShared, known: [...migrations, added] })
    const { lines, onStep } = messages()
    await migrate(db, { isShared, onStep })
    expect(lines).toEqual([expect.stringContaining(`newer paydirt (${added.name}); this one runs on it`)])
    await leave(added)
  })

  test('of a newer version that took something away is refused, by the digits that it asks for', async () => {
    const taken = make({ statements: 'alter table words add column spare text;', oldestProgram: '8000' })
    await migrate(db, { isShared, known: [...migrations, taken] })
    const state = await readSchema(db)
    expect(() => compareSchema(state, migrations)).toThrow(
      expect.objectContaining({ name: 'ConfigError', code: 'newer_schema' }),
    )
    // The version in between knows 8000, and runs.
    const between = [...migrations, make({ name: '8000-between' })]
    expect(compareSchema(state, between)).toMatchObject({ kind: 'behind' })
    await leave(taken)
  })

  test('that is behind is refused where nobody may migrate, and nothing is changed', async () => {
    const missing = make({ statements: 'create table never (id bigint);' })
    await expect(
      migrate(db, { isShared, by: 'nobody', known: [...migrations, missing] }),
    ).rejects.toMatchObject({ code: 'schema_behind', message: expect.stringContaining(missing.name) })
    const { rows } = await sql<{ found: string | null }>`select to_regclass('never')::text as found`.execute(
      db,
    )
    expect(rows).toEqual([{ found: null }])
  })

  test('takes a failed migration back whole, and goes on at the next try', async () => {
    const good = make({ statements: 'create table first_part (id bigint);' })
    const broken = make({ statements: 'create table half (id bigint);\ninsert into nowhere values (1);' })
    await expect(migrate(db, { isShared, known: [...migrations, good, broken] })).rejects.toThrow(/nowhere/)
    const state = await readSchema(db)
    expect([state.applied.get(good.name), state.applied.has(broken.name)]).toEqual([true, false])
    await migrate(db, {
      isShared,
      known: [...migrations, good, { ...broken, statements: 'create table half (id bigint);' }],
    })
    expect((await readSchema(db)).applied.get(broken.name)).toBe(true)
    await leave(good)
    await leave(broken)
  })
})

describe('an index', () => {
  const index = { name: 'words_word', on: 'words (word)', isUnique: true }

  test('is built after its migration, and is found built when the note of it was lost', async () => {
    const built = make({ indexes: [index] })
    await migrate(db, { isShared, known: [...migrations, built] })
    expect(await isValid('words_word')).toBe(true)
    await sql`update schema_changes set completed_at = null where name = ${built.name}`.execute(db)
    const { lines, onStep } = messages()
    await migrate(db, { isShared, known: [...migrations, built], onStep })
    expect(lines).toEqual([])
    expect((await readSchema(db)).applied.get(built.name)).toBe(true)
    await leave(built)
  })

  test('that an interrupted build left invalid is built anew', async () => {
    await sql`create unique index if not exists words_word on words (word)`.execute(db)
    await sql`update pg_index set indisvalid = false where indexrelid = 'words_word'::regclass`.execute(db)
    const rebuilt = make({ indexes: [index] })
    const { lines, onStep } = messages()
    await migrate(db, { isShared, known: [...migrations, rebuilt], onStep })
    expect(await isValid('words_word')).toBe(true)
    expect(lines.join('\n')).toContain('left of an interrupted build')
    await leave(rebuilt)
  })
})

describe('an index that another one replaces', () => {
  const replaces = (on: string) =>
    make({ indexes: [{ name: `words_new_${next}`, on }], drops: ['words_replaced'] })

  beforeEach(async () => {
    await sql`create index if not exists words_replaced on words (word, id)`.execute(db)
  })

  test('is dropped once that is built, and its absence is no hindrance', async () => {
    const replacing = replaces('words (word)')
    await migrate(db, { isShared, known: [...migrations, replacing] })
    expect(await isValid(replacing.indexes![0]!.name)).toBe(true)
    expect(await isValid('words_replaced')).toBeUndefined()
    await sql`update schema_changes set completed_at = null where name = ${replacing.name}`.execute(db)
    await migrate(db, { isShared, known: [...migrations, replacing] })
    expect((await readSchema(db)).applied.get(replacing.name)).toBe(true)
    await leave(replacing)
  })

  test('stays while that cannot be built', async () => {
    const failing = replaces('words (no_such_column)')
    await expect(migrate(db, { isShared, known: [...migrations, failing] })).rejects.toThrow('no_such_column')
    expect(await isValid('words_replaced')).toBe(true)
    await leave(failing)
  })

  test('was tasks_key: the tasks of a lookup, in one run and in all, are found by tasks_by_lookup', async () => {
    expect(await isValid('tasks_key')).toBeUndefined()
    expect(await isValid('tasks_lookup')).toBeUndefined()
    await sql`insert into runs (id, connector, object, entity, recipe, trigger, state, fingerprint, source, started_at)
      select 'run-' || n, 'csv', 'company', 'company', 'profile', 'csv', 'finished', 'f' || n, '{}', now()
      from generate_series(0, 9) n`.execute(db)
    await sql`insert into tasks (run_id, ordinal, record_id, identity, status, lookup_key, updated_at)
      select 'run-' || n % 10, n, n, '{}', 'skipped', 'lookup-' || n / 10, now() from generate_series(0, 4999) n`.execute(
      db,
    )
    await sql`analyze tasks`.execute(db)
    const planOf = async (condition: string) => {
      const { rows } = await sql<{ 'QUERY PLAN': string }>`
        explain select id from tasks where ${sql.raw(condition)}`.execute(db)
      return rows.map((row) => row['QUERY PLAN']).join('\n')
    }
    for (const condition of [
      `run_id = 'run-3' and lookup_key = any(array['lookup-1', 'lookup-2'])`,
      `lookup_key = any(array['lookup-1', 'lookup-2'])`,
      `lookup_key = 'lookup-3'`,
    ])
      expect(await planOf(condition)).toContain('tasks_by_lookup')
  })
})

describe.runIf(process.env['DATABASE_URL'])('beside other processes', () => {
  async function openAnother(): Promise<OpenDatabase> {
    return openDatabase({ dataDir: stores.dataDir, url: stores.databaseUrl })
  }

  test('one of four migrates, and the others wait for the index too', async () => {
    const others = await Promise.all(Array.from({ length: 4 }, openAnother))
    const slow = make({
      statements:
        'create table counted (id bigint generated always as identity);\nselect pg_sleep(0.3);\ninsert into counted default values;',
      indexes: [{ name: 'words_id_word', on: 'words (id, word)' }],
    })
    const known = [...migrations, slow]
    await Promise.all(others.map((each) => migrate(each.db, { isShared, known })))
    const { rows } = await sql<{ rows: bigint }>`select count(*) as rows from counted`.execute(db)
    expect(rows).toEqual([{ rows: 1n }])
    expect(await isValid('words_id_word')).toBe(true)
    await Promise.all(others.map((each) => each.close()))
    await leave(slow)
  })

  test('a process that waits for others begins when they have migrated', async () => {
    const other = await openAnother()
    const late = make({ statements: 'create table late (id bigint);' })
    const known = [...migrations, late]
    const { lines, onStep } = messages()
    const waiting = migrate(other.db, { isShared, by: 'others', known, onStep })
    await vi.waitFor(() => expect(lines).toEqual([expect.stringContaining('waiting for another process')]))
    await migrate(db, { isShared, known })
    await waiting
    await expect(
      migrate(other.db, { isShared, by: 'others', patienceMs: 0, known: [...known, make({})] }),
    ).rejects.toMatchObject({ code: 'schema_behind' })
    await other.close()
    await leave(late)
  })

  test('a lock that another transaction holds is waited for in turns, and the holder is named', async () => {
    const other = await openAnother()
    const altering = make({
      statements: "set local lock_timeout = '50ms';\nalter table words add column note text;",
    })
    const { lines, onStep } = messages()
    let migrating: Promise<void> | undefined
    await other.db.transaction().execute(async (tx) => {
      await sql`set local application_name = 'a long report'`.execute(tx)
      await sql`select count(*) from words`.execute(tx)
      migrating = migrate(db, { isShared, known: [...migrations, altering], onStep })
      await vi.waitFor(() => expect(lines.join('\n')).toMatch(/waits for a lock; .*a long report/), {
        timeout: 20_000,
      })
      // Meanwhile others read and write the table, because the migration gave way.
      const third = await openAnother()
      await sql`update words set word = word where id = 1`.execute(third.db)
      await third.close()
    })
    await migrating
    expect((await readSchema(db)).applied.get(altering.name)).toBe(true)
    await other.close()
    await leave(altering)
  })
})
