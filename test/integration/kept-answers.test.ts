import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChargeJournal } from '../../src/domain/ports/charge-journal.ts'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import { challenge, found, setStage, type Stage } from '../support/payer-stage.ts'

// An answer that was paid for is kept, whatever else it says and whatever its content does to the reading.

let database: OpenDatabase
let close: () => Promise<void>
let stage: Stage
beforeAll(async () => void ({ database, close } = await openFreshLedger()))
afterAll(() => close())
beforeEach(async () => void (stage = await setStage(database.db)))

const credits = async () =>
  (
    await database.db
      .selectFrom('charges')
      .select('credits_atomic')
      .where('lookup_key', '=', stage.key)
      .executeTakeFirstOrThrow()
  ).credits_atomic

async function buy(body: string, change: Partial<ChargeJournal> = {}) {
  stage.script(challenge(), { ...found(), body })
  return stage.startPayer(change).buy(stage.purchase)
}

describe('a stated cost that is no cost does not cost the answer', () => {
  test.each([
    '1e30',
    '-5',
    '1e400',
    '-1e400',
    '100001',
    '"1e30"',
    '"NaN"',
    '"-5"',
    `"${'9'.repeat(400)}"`,
    '{}',
    '[1]',
    'true',
    'null',
  ])('%s', async (cost) => {
    const profile = `{"credit":1,"total_credit_cost":${cost}}`
    for (const place of ['metadata', 'data']) {
      stage = await setStage(database.db)
      const body =
        place === 'metadata'
          ? `{"data":{"company_name":"Acme"},"metadata":{"profile":${profile}}}`
          : `{"data":{"company_name":"Acme","profile":${profile}}}`
      expect(await buy(body)).toMatchObject({ outcome: 'found', data: { company_name: 'Acme' } })
      expect(await stage.charges()).toMatchObject([{ state: 'settled', sends: 1 }])
      expect(await credits()).toBeNull()
      expect(await stage.committed()).toBe(10_000n)
    }
  })

  test.each([
    ['1', 1_000_000n],
    ['0', 0n],
    ['"2.5"', 2_500_000n],
    ['1e-9', 0n],
  ])('%s is one', async (cost, atomic) => {
    await buy(`{"data":{"company_name":"Acme"},"metadata":{"profile":{"total_credit_cost":${cost}}}}`)
    expect(await credits()).toBe(atomic)
  })
})

describe('content that breaks its reading or its storing', () => {
  test('a field that is nested a hundred thousand times: the text is kept', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    await buy(`{"data":{"company_name":"Acme","deep":${deep}}}`)
    expect(await stage.charges()).toMatchObject([{ state: 'settled', sends: 1 }])
    const answer = await stage.answer()
    expect(answer?.outcome).toBe('unreadable')
    expect(String(answer?.data?.['raw'])).toContain('"company_name":"Acme"')
  })

  test.each(['found', 'not_found'] as const)(
    'what the database refuses is stored as text (%s)',
    async (outcome) => {
      const body = outcome === 'found' ? '{"data":{"company_name":"Acme"}}' : '{"data":null}'
      await buy(body, {
        async settleCharge(charge, receipt, answer) {
          if (answer.outcome !== 'unreadable') throw new Error('invalid input syntax')
          return stage.journal.settleCharge(charge, receipt, answer)
        },
      })
      expect(await stage.charges()).toMatchObject([{ state: 'settled' }])
      expect(await stage.answer()).toMatchObject({
        outcome: 'unreadable',
        data: { raw: body, problem: expect.stringContaining('Error') },
      })
    },
  )

  test('when nothing can be stored, the first error is thrown and the same bytes go out again', async () => {
    const crash = async (): Promise<never> => {
      throw new Error('no space left')
    }
    await expect(buy('{"data":{}}', { settleCharge: crash })).rejects.toThrow('no space left')
    stage.script(found())
    await stage.startPayer().buy(stage.purchase)
    expect(stage.requests[2]).toEqual(stage.requests[1])
    expect(await stage.charges()).toMatchObject([{ state: 'settled', sends: 2 }])
  })

  test('an answer that was cut keeps what it found, and says nothing of the rest', async () => {
    stage.script(challenge(), { ...found(), cutAfterBytes: 100 })
    await stage.startPayer().buy(stage.purchase)
    expect(await stage.answer()).toMatchObject({
      outcome: 'found',
      data: { company_name: 'Acme', answer_cut: expect.stringContaining('100 bytes') },
    })
    stage = await setStage(database.db)
    stage.script(challenge(), { ...found(), body: '{"data":null}', cutAfterBytes: 100 })
    await stage.startPayer().buy(stage.purchase)
    expect(await stage.answer()).toMatchObject({
      outcome: 'unreadable',
      data: { raw: '{"data":null}', problem: expect.stringContaining('100 bytes') },
    })
  })
})
