import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { RetriableError } from '../../src/domain/errors.ts'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { openDatabase, type OpenDatabase } from '../../src/store/database/database.ts'
import { migrate } from '../../src/store/database/migrating/migrate.ts'
import { migrations } from '../../src/store/database/migrating/migrations.ts'
import { compareSchema, readSchema } from '../../src/store/database/migrating/schema-state.ts'
import { storeSingles } from '../../src/store/ledger/answers.ts'
import { openPaymentsUntil } from '../../src/store/ledger/paid-charges.ts'
import { freshAnswers } from '../../src/store/names/same-questions.ts'
import { packsRows, type LedgerAdapter } from '../../src/store/packed/ledger-adapter.ts'
import { refuseOlder } from '../../src/store/packed/refuse-older.ts'
import { correctTimes } from '../../src/store/restored/book-payments.ts'
import { finishTasks } from '../../src/store/runs/ready-tasks.ts'
import { eraseMentions } from '../../src/store/subjects/erase-mentions.ts'
import { eraseTasks } from '../../src/store/subjects/erase-subject.ts'
import { filledFields } from '../../src/store/views/filled-fields.ts'
import { openReadyRun } from '../../src/store/writes/ready-run.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import { challenge, fails, found, setStage, type Stage } from '../support/payer-stage.ts'
import { freshStores, type FreshStores } from '../support/stores.ts'

const at = new Date('2026-03-01T13:00:00Z')
const before0043 = migrations.filter(({ name }) => name < '0043')
const company = { ...companyAnswer('https://www.profnet.com/company/scale-3').data } as Record<
  string,
  unknown
>

describe('the form of rows', () => {
  let stores: FreshStores
  let database: OpenDatabase | undefined
  beforeEach(async () => void (stores = await freshStores()))
  afterEach(async () => {
    await database?.close()
    await stores.cleanup()
  })
  const open = (migratedBy?: 'caller') =>
    openDatabase({ dataDir: stores.dataDir, url: stores.databaseUrl, migratedBy })

  test('is the packed one in a new embedded ledger, which older programs are told', async () => {
    database = await open()
    const isNewEmbedded = database.kind === 'pglite'
    expect(packsRows(database.db)).toBe(isNewEmbedded)
    await database.db.transaction().execute(async (tx) => expect(packsRows(tx)).toBe(isNewEmbedded))
    const state = await readSchema(database.db)
    const older = () => compareSchema(state, before0043)
    if (isNewEmbedded) expect(older).toThrow(/newer paydirt.*0045 is needed/)
    else
      expect(older()).toMatchObject({ kind: 'newer', unknown: expect.arrayContaining(['0043-packed-rows']) })
    await database.close()
    database = await open()
    expect(packsRows(database.db)).toBe(isNewEmbedded)
  })

  test('stays as it was in a ledger of the version before, which can be taken back', async () => {
    database = await open('caller')
    const isShared = database.kind === 'postgres'
    await migrate(database.db, { isShared, known: before0043 })
    await migrate(database.db, { isShared })
    expect(packsRows(database.db)).toBe(false)
    expect(compareSchema(await readSchema(database.db), before0043)).toMatchObject({ kind: 'newer' })
  })
})

describe('a ledger with rows of both forms', () => {
  let database: OpenDatabase
  let close: () => Promise<void>
  let stage: Stage
  let usual: boolean
  beforeAll(async () => {
    ;({ database, close } = await openFreshLedger())
    usual = packsRows(database.db)
  })
  beforeEach(async () => void (stage = await setStage(database.db)))
  afterEach(() => packing(usual))
  afterAll(() => close())

  function packing(packs: boolean): void {
    const { adapter } = database.db.getExecutor()
    ;(adapter as LedgerAdapter).packsRows = packs
  }

  const stored = async (column: 'answer' | 'patch' | 'authorization_json', table: string) => {
    const { rows } = await sql<{ text: string }>`
      select ${sql.ref(column)}::text as text from ${sql.table(table)} where ${sql.ref(column)} is not null`.execute(
      database.db,
    )
    return rows.map(({ text }) => text)
  }
  const isPacked = (text: string | undefined) => text?.includes('"$z"') === true

  test.each([
    [true, false],
    [false, true],
  ])('sends the same bytes again, journaled packed: %s, read packed: %s', async (packs, then) => {
    packing(packs)
    stage.script(challenge({ identifier: true }), fails(new RetriableError('timeout', 'no answer')))
    await expect(stage.startPayer().buy(stage.purchase)).rejects.toThrow(RetriableError)
    expect(isPacked((await stored('authorization_json', 'charges')).at(-1))).toBe(packs)
    packing(then)
    stage.script(found())
    await stage.startPayer().buy(stage.purchase)
    const [first, second] = stage.proofs().filter(Boolean)
    expect(second).toBe(first)
    expect(await stage.charges()).toMatchObject([{ state: 'settled', sends: 2 }])
  })

  test.each([true, false])('knows and corrects when an open payment ends, packed: %s', async (packs) => {
    packing(packs)
    stage.script(challenge(), fails(new RetriableError('timeout', 'no answer')))
    await expect(stage.startPayer().buy(stage.purchase)).rejects.toThrow(RetriableError)
    const { nonce } = (await stage.charges())[0]!
    const until = (await openPaymentsUntil(database.db))!.getTime() / 1000
    await correctTimes(database.db, [{ nonce, validBefore: until + 60 }], at)
    const { open } = await stage.journal.unanswered(stage.key)
    expect(open?.authorization).toMatchObject({ validBefore: until + 60, nonce })
    expect(open?.authorization.terms).toMatchObject({ protocol: 'x402', amountAtomic: 10_000n })
    await database.db.updateTable('charges').set({ state: 'expired' }).where('nonce', '=', nonce).execute()
  })

  test.each([true, false])('answers from an answer, packed: %s', async (packs) => {
    packing(packs)
    const answer = { outcome: 'found' as const, data: company, freshUntil: new Date(at.getTime() + 1e9) }
    await storeSingles(database.db, [{ key: stage.key, answer }], at)
    const { rows } = await sql<{ text: string }>`
      select answer::text as text from lookups where key = ${stage.key}`.execute(database.db)
    expect(isPacked(rows[0]?.text)).toBe(packs)
    const share = (rows[0]?.text.length ?? 0) / JSON.stringify(company).length
    expect(share < 1 / 3).toBe(packs)
    expect((await stage.answer())?.data).toEqual(company)
    // In SQL: fresh, and with every field of a profile.
    const pair = { asked: stage.key, key: stage.key, needs: 'complete' as const }
    const fresh = await sql<{ answer: object }>`select * from ${freshAnswers([pair], at)}`.execute(
      database.db,
    )
    expect(fresh.rows).toMatchObject([{ answer: company }])
    const { industry: _, ...partial } = company
    await storeSingles(database.db, [{ key: stage.key, answer: { ...answer, data: partial } }], at)
    const none = await sql`select * from ${freshAnswers([pair], at)}`.execute(database.db)
    expect(none.rows).toEqual([])
  })

  test.each([true, false])('erases a person from an answer about others, packed: %s', async (packs) => {
    packing(packs)
    const profile = 'https://www.profnet.com/in/Quita-Zanders'
    const people = [
      { name: 'Quita Zanders', logo_url: null, profnet_url: profile },
      { name: 'Another', logo_url: null, profnet_url: 'https://www.profnet.com/in/another' },
    ]
    const answer = { outcome: 'found' as const, data: { ...company, people }, freshUntil: at }
    await storeSingles(database.db, [{ key: stage.key, answer }], at)
    const erased = await database.db
      .transaction()
      .execute((tx) =>
        eraseMentions(tx, [{ kind: 'profile_url', value: 'profnet.com/in/quita-zanders' }], []),
      )
    expect(erased).toBe(1)
    const left = JSON.stringify((await stage.answer())?.data)
    expect(left).not.toContain('Zanders')
    expect(left).toContain('in/another')
    const { rows } = await sql<{ text: string }>`
      select answer::text as text from lookups where key = ${stage.key}`.execute(database.db)
    expect(isPacked(rows[0]?.text)).toBe(packs)
  })

  test.each([true, false])('counts, reads and erases the fields of a patch, packed: %s', async (packs) => {
    packing(packs)
    const patch = {
      description: { set: 'Makes things. '.repeat(12) },
      employees: { set: 42 },
      website: { clear: true as const },
    }
    const run = { ...stage.run, id: `${stage.run.id}-${packs}`, fingerprint: `${stage.run.id}-${packs}` }
    await openReadyRun(
      database.db,
      { ...run, trigger: 'csv', source: {} } as Parameters<typeof openReadyRun>[1],
      [{ recordId: '1', identity: {}, steps: [], patch }],
      at,
    )
    const task = () =>
      database.db
        .selectFrom('tasks')
        .select(['id', 'patch'])
        .where('run_id', '=', run.id)
        .executeTakeFirstOrThrow()
    const { id, patch: ready } = await task()
    expect(ready).toEqual(patch)
    await finishTasks(database.db, [{ id, status: 'written', patch, reason: null }], at)
    expect((await task()).patch).toEqual(patch)
    const { rows } = await sql<{ text: string }>`
      select patch::text as text from tasks where id = ${id}`.execute(database.db)
    expect(isPacked(rows[0]?.text)).toBe(packs)
    const fields = await sql<{ field: string }>`
      select field from tasks cross join ${filledFields(sql<boolean>`false`)} where id = ${id} order by 1`.execute(
      database.db,
    )
    expect(fields.rows.map(({ field }) => field)).toEqual(['description', 'employees', 'website'])
    await database.db.transaction().execute((tx) => eraseTasks(tx, [id], at, () => 'token'))
    expect((await task()).patch).toEqual({
      description: { clear: true },
      employees: { clear: true },
      website: { clear: true },
    })
  })

  test('refuses programs that cannot read it, once a packed row was brought there', async () => {
    const older = async () => compareSchema(await readSchema(database.db), before0043)
    const { rows: marks } = await sql<{ name: string; oldest: string }>`
      select name, oldest_program as oldest from schema_changes where oldest_program is not null`.execute(
      database.db,
    )
    await sql`update schema_changes set oldest_program = null`.execute(database.db)
    await database.db.deleteFrom('charges').execute()
    await sql`update lookups set answer = null`.execute(database.db)
    await sql`update tasks set patch = null`.execute(database.db)
    await refuseOlder(database.db)
    expect(await older()).toMatchObject({ kind: 'newer' })
    packing(true)
    stage.script(challenge(), fails(new RetriableError('timeout', 'no answer')))
    await expect(stage.startPayer().buy(stage.purchase)).rejects.toThrow(RetriableError)
    await refuseOlder(database.db)
    await expect(older()).rejects.toThrow(/0043 is needed/)
    await sql`update schema_changes set oldest_program = null`.execute(database.db)
    for (const { name, oldest } of marks)
      await sql`update schema_changes set oldest_program = ${oldest} where name = ${name}`.execute(
        database.db,
      )
  })
})
