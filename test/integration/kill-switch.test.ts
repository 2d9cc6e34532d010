import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { RetriableError } from '../../src/domain/errors.ts'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import { createSpendSwitch, type SpendSwitch } from '../../src/store/ledger/spend-switch.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import { challenge, found, plain, setStage, transaction, type Stage } from '../support/payer-stage.ts'

// The kill switch between two sends of the same authorization: the first failed, and the second would settle.

let database: OpenDatabase
let close: () => Promise<void>
let stage: Stage
let spending: SpendSwitch
beforeAll(async () => {
  void ({ database, close } = await openFreshLedger())
  spending = createSpendSwitch(database.db, { now: () => new Date() })
})
afterAll(() => close())
beforeEach(async () => void (stage = await setStage(database.db)))
afterEach(() => spending.resume())

const stopped = { name: 'BudgetExhaustedError', code: 'stopped' }
const used = challenge({ error: 'invalid_exact_evm_nonce_already_used' })
const open = async () => (await stage.journal.unanswered(stage.key)).open!

async function failOnce(options: { identifier?: boolean } = {}): Promise<void> {
  stage.script(challenge(options), plain(500))
  await expect(stage.startPayer().buy(stage.purchase)).rejects.toThrow(RetriableError)
  await spending.stop('a test')
}

test.each(['sent', 'in_doubt'] as const)(
  'an authorization that was sent and failed does not go out again while spending is stopped (%s)',
  async (state) => {
    await failOnce()
    await database.db.updateTable('charges').set({ state }).where('lookup_key', '=', stage.key).execute()
    await expect(stage.startPayer().buy(stage.purchase)).rejects.toMatchObject(stopped)
    await expect(stage.startPayer().recover(await open(), stage.purchase, false)).resolves.toBe(false)
    expect(stage.requests).toHaveLength(2)
    expect(await stage.charges()).toMatchObject([{ state, sends: 1 }])

    await spending.resume()
    stage.script(found())
    await stage.startPayer().buy(stage.purchase)
    expect(stage.requests[2]).toEqual(stage.requests[1])
    expect(await stage.charges()).toMatchObject([{ state: 'settled', sends: 2 }])
    expect(stage.turns.done).toBe(stage.turns.taken)
  },
)

test('a payment identifier does not lift the switch for an authorization that the chain has not seen', async () => {
  await failOnce({ identifier: true })
  await expect(stage.startPayer().buy(stage.purchase)).rejects.toMatchObject(stopped)
  stage.pass(1000)
  await expect(stage.startPayer().buy(stage.purchase)).rejects.toMatchObject(stopped)
  expect(stage.requests).toHaveLength(2)
})

test.each(['buy', 'recover'] as const)(
  'a payment that the chain says is used is asked for its answer while spending is stopped (%s)',
  async (how) => {
    await failOnce({ identifier: true })
    stage.chain.fate = { kind: 'used', transaction }
    stage.script(found())
    const payer = stage.startPayer()
    await (how === 'buy' ? payer.buy(stage.purchase) : payer.recover(await open(), stage.purchase, false))
    expect(stage.requests[2]).toEqual(stage.requests[1])
    expect(await stage.charges()).toMatchObject([{ state: 'settled', transaction }])
    expect(await stage.answer()).toMatchObject({ outcome: 'found' })
  },
)

test('a used payment without an answer is closed as lost, and nothing is bought in its place while spending is stopped', async () => {
  await failOnce()
  stage.chain.fate = { kind: 'used', transaction }
  stage.pass(60)
  stage.script(used, challenge())
  await expect(stage.startPayer().buy(stage.purchase)).rejects.toMatchObject(stopped)
  expect(await stage.charges()).toMatchObject([{ state: 'lost', transaction }])
})

test('a journaled charge is not asked about: it was never sent', async () => {
  const stop = async (): Promise<never> => {
    await spending.stop('a test')
    throw new RetriableError('killed', 'killed')
  }
  stage.script(challenge())
  await expect(stage.startPayer({ markSent: stop }).buy(stage.purchase)).rejects.toThrow('killed')
  stage.chain.fate = { kind: 'used', transaction }
  await expect(stage.startPayer().buy(stage.purchase)).rejects.toMatchObject(stopped)
  expect(await stage.charges()).toMatchObject([{ state: 'journaled', sends: 0 }])
  expect(stage.requests).toHaveLength(1)
})

test('a lookup that is parked when spending was just resumed does not stay parked', async () => {
  const cause = { code: 'stopped', reason: 'spending is stopped' }
  const due = async () =>
    (
      await database.db
        .selectFrom('lookups')
        .select('due_at')
        .where('key', '=', stage.key)
        .executeTakeFirstOrThrow()
    ).due_at.getUTCFullYear()
  await spending.stop('a test')
  await stage.lookups.park(stage.key, null, cause)
  expect(await due()).toBeGreaterThan(9_000)
  // The order to resume came between the refusal and the parking.
  await spending.resume()
  await stage.lookups.park(stage.key, null, cause)
  expect(await due()).toBe(2026)
})
