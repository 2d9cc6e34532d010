import { CompiledQuery, sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { PolicyDeniedError } from '../../src/domain/errors.ts'
import type { ResponseHead } from '../../src/domain/payment.ts'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import { paidTotals } from '../../src/store/ledger/paid-charges.ts'
import { payers } from '../../src/store/migrations/0011-0020/0012-payers.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import { challenge, found, setStage, type Stage } from '../support/payer-stage.ts'

// Challenges that the ledger could not keep, and what one of them did to a ledger that an older version wrote.

let database: OpenDatabase
let close: () => Promise<void>
let stage: Stage
beforeAll(async () => void ({ database, close } = await openFreshLedger()))
afterAll(() => close())
beforeEach(async () => void (stage = await setStage(database.db)))

type Required = Record<string, unknown> & { accepts: Record<string, unknown>[] }

/** A good challenge with one change, in the header of version 2 or as version 2 terms in the body. */
function changed(change: (required: Required) => void, place: 'header' | 'body'): ResponseHead {
  const good = challenge()
  const required = JSON.parse(
    Buffer.from(good.headers['payment-required']!, 'base64').toString('utf8'),
  ) as Required
  change(required)
  const text = JSON.stringify(required)
  return place === 'header'
    ? { ...good, headers: { 'payment-required': Buffer.from(text).toString('base64') } }
    : { ...good, headers: {}, body: text }
}

const deep = () => JSON.parse(`${'{"a":'.repeat(200)}1${'}'.repeat(200)}`) as object

describe('a challenge that the ledger cannot keep is refused before it is journaled', () => {
  test.each<[string, (required: Required, poison: string) => void]>([
    [
      'in the extra fields of its offer',
      ({ accepts }, poison) =>
        void (accepts[0]!['extra'] = { ...(accepts[0]!['extra'] as object), note: poison }),
    ],
    ['as the name of a field', ({ accepts }, poison) => void (accepts[0]![poison] = 1)],
    [
      'in its resource',
      (required, poison) => void (required['resource'] = { url: 'https://a.example', description: poison }),
    ],
    ['in its extensions', (required, poison) => void (required['extensions'] = { x: [[poison]] })],
    [
      'in another offer',
      ({ accepts }, poison) => void accepts.push({ ...accepts[0], extra: { note: poison } }),
    ],
    ['in its error', (required, poison) => void (required['error'] = poison)],
  ])('%s', async (_, poisonWith) => {
    for (const poison of ['a\u0000b', '\ud800', 'x\udc00y', '\u0000']) {
      for (const place of ['header', 'body'] as const) {
        stage = await setStage(database.db)
        stage.script(changed((required) => poisonWith(required, poison), place))
        await expect(stage.startPayer().buy(stage.purchase)).rejects.toMatchObject({
          name: 'PolicyDeniedError',
          code: 'text',
        })
        expect(await stage.charges()).toEqual([])
        expect(stage.requests).toHaveLength(1)
      }
    }
  })

  test('nested too deeply for a parser', async () => {
    stage.script(
      changed(
        ({ accepts }) => void (accepts[0]!['extra'] = { ...(accepts[0]!['extra'] as object), deep: deep() }),
        'header',
      ),
    )
    await expect(stage.startPayer().buy(stage.purchase)).rejects.toThrow(PolicyDeniedError)
    expect(await stage.charges()).toEqual([])
  })

  test('a surrogate pair is text like any other', async () => {
    stage.script(
      changed((required) => void (required['error'] = '💥'), 'header'),
      found(),
    )
    expect(await stage.startPayer().buy(stage.purchase)).toMatchObject({ outcome: 'found' })
  })

  test('terms that were remembered by an older version are refused too', async () => {
    stage.script(challenge(), found())
    await stage.startPayer().buy(stage.purchase)
    await sql`update terms set terms = replace(terms::text, '"USD Coin"', '"USD Coin","note":"\\u0000"')::json`.execute(
      database.db,
    )
    await stage.askAnew()
    stage.script(challenge(), found())
    await stage.startPayer().buy(stage.purchase)
    // The terms were asked for again: the remembered ones did not pass.
    expect(stage.proofs()).toEqual([undefined, expect.anything(), undefined, expect.anything()])
  })
})

describe('a challenge above 16 kB is refused before it is decoded', () => {
  test.each(['header', 'body'] as const)('in the %s', async (place) => {
    stage.script(changed((required) => void (required['extensions'] = { pad: 'x'.repeat(17_000) }), place))
    await expect(stage.startPayer().buy(stage.purchase)).rejects.toMatchObject({
      name: 'PolicyDeniedError',
      code: 'challenge_size',
      message: expect.stringContaining('16384'),
    })
    expect(await stage.charges()).toEqual([])
    const refusals = await database.db
      .selectFrom('refusals')
      .select('rule')
      .where('lookup_key', '=', stage.key)
      .execute()
    expect(refusals).toEqual([{ rule: 'challenge_size' }])
  })

  test('a long page beside a good challenge is not read', async () => {
    stage.script({ ...challenge(), body: `<html>${'x'.repeat(1_000_000)}` }, found())
    expect(await stage.startPayer().buy(stage.purchase)).toMatchObject({ outcome: 'found' })
  })
})

describe('payer and recipient have columns of their own', () => {
  const columns = () =>
    database.db
      .selectFrom('charges')
      .select(['id', 'payer', 'pay_to'])
      .where('lookup_key', '=', stage.key)
      .executeTakeFirstOrThrow()

  /** Makes the charge the poisoned row that an older version could write. */
  async function poison(): Promise<void> {
    const { authorization_json: authorization } = await database.db
      .selectFrom('charges')
      .select('authorization_json')
      .where('lookup_key', '=', stage.key)
      .executeTakeFirstOrThrow()
    const text = JSON.stringify(authorization).replaceAll(
      '"USD Coin"',
      '"USD Coin","note":"\\u0000\\ud800","payTo2":"x","payer":"0x00000000000000000000000000000000deadbeef"',
    )
    await sql`update charges set authorization_json = ${text}::json where lookup_key = ${stage.key}`.execute(
      database.db,
    )
  }

  async function migrateAgain(): Promise<void> {
    await sql`alter table charges drop column payer, drop column pay_to`.execute(database.db)
    for (const statement of payers.split(/;\s*$/m)) {
      if (statement.trim() !== '') await database.db.executeQuery(CompiledQuery.raw(statement))
    }
  }

  test('a bad row among good ones: the migration fills all, and reconciling reads all', async () => {
    const good = stage
    good.script(challenge(), found())
    await good.startPayer().buy(good.purchase)
    stage = await setStage(database.db)
    stage.script(challenge(), found())
    await stage.startPayer().buy(stage.purchase)
    const before = await columns()
    expect(before.payer).toMatch(/^0x[0-9a-fA-F]{40}$/)
    await poison()
    await expect(
      sql`select authorization_json ->> 'payer' from charges`.execute(database.db),
      'this row is one that breaks the old statement',
    ).rejects.toThrow(/Unicode/)

    await migrateAgain()
    expect(await columns()).toEqual(before)
    expect(await paidTotals(database.db, before.payer!)).toMatchObject({
      charges: 1,
      settledAtomic: 10_000n,
      recipients: [before.pay_to],
    })
  })

  test('a row of a process that does not know the columns is read from its text', async () => {
    stage.script(challenge(), found())
    await stage.startPayer().buy(stage.purchase)
    const before = await columns()
    await poison()
    await database.db
      .updateTable('charges')
      .set({ payer: null, pay_to: null })
      .where('id', '=', before.id)
      .execute()
    expect(await paidTotals(database.db, before.payer!)).toMatchObject({
      charges: 1,
      recipients: [before.pay_to],
    })
  })
})
