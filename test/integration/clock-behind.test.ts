import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import { challenge, found, setStage, type Stage } from '../support/payer-stage.ts'

let database: OpenDatabase
let close: () => Promise<void>
let stage: Stage
beforeAll(async () => void ({ database, close } = await openFreshLedger()))
afterAll(() => close())
beforeEach(async () => void (stage = await setStage(database.db)))

test('an authorization that is dead when it is sent is not followed by another at once, and its budget comes back', async () => {
  stage.chain.fate = { kind: 'dead' }
  const expired = challenge({ error: 'invalid_exact_evm_payload_authorization_valid_before' })
  stage.script(challenge(), expired)
  const buying = stage.startPayer().buy(stage.purchase)
  await expect(buying).rejects.toMatchObject({
    name: 'RetriableError',
    code: 'expired_at_once',
    countsAsTry: true,
    message: expect.stringContaining('clock'),
  })
  expect(await stage.charges()).toMatchObject([{ state: 'expired', sends: 1 }])
  expect(await stage.committed()).toBe(0n)

  // The next try, after the clock was set.
  stage.script(challenge(), found())
  await stage.startPayer().buy(stage.purchase)
  expect(await stage.charges()).toMatchObject([{ state: 'expired' }, { state: 'settled' }])
})
