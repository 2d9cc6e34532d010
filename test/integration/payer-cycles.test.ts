import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import { challenge, found, plain, setStage, type Stage } from '../support/payer-stage.ts'

let database: OpenDatabase
let close: () => Promise<void>
beforeAll(async () => void ({ database, close } = await openFreshLedger()))
afterAll(() => close())

/** A payment that settles and whose answer never comes; it is lost once its time of grace is over. */
async function lose(
  stage: Stage,
  payer: ReturnType<Stage['startPayer']>,
  asksTerms = stage.requests.length === 0,
) {
  stage.chain.fate = { kind: 'used', transaction: `0x${'cd'.repeat(32)}` }
  // The terms are remembered for a day after a challenge that offers no answers by payment id.
  stage.script(...(asksTerms ? [challenge()] : []), plain(500))
  await expect(payer.buy(stage.purchase)).rejects.toMatchObject({ code: 'service_error' })
  stage.pass(400)
}

test('a loss in each of three refreshes never blocks the lookup: each is bought once more', async () => {
  const stage = await setStage(database.db)
  const payer = stage.startPayer()
  for (let cycle = 1; cycle <= 3; cycle++) {
    await lose(stage, payer, true)
    stage.script(found())
    expect(await payer.buy(stage.purchase)).toMatchObject({ outcome: 'found' })
    stage.pass(91 * 86_400)
    await stage.askAnew()
  }
  expect((await stage.charges()).map(({ state }) => state)).toEqual(
    Array.from({ length: 3 }, () => ['lost', 'settled']).flat(),
  )
})

test('two losses in one refresh end it, until the answer would have been stale', async () => {
  const stage = await setStage(database.db)
  const payer = stage.startPayer()
  await lose(stage, payer)
  await lose(stage, payer)
  const blocked = { code: 'paid_no_data' }
  await expect(payer.buy(stage.purchase)).rejects.toMatchObject(blocked)
  stage.pass(89 * 86_400)
  await expect(payer.buy(stage.purchase)).rejects.toMatchObject(blocked)
  stage.pass(2 * 86_400)
  stage.script(challenge(), found())
  expect(await payer.buy(stage.purchase)).toMatchObject({ outcome: 'found' })
  expect((await stage.charges()).map(({ state }) => state)).toEqual(['lost', 'lost', 'settled'])
})
