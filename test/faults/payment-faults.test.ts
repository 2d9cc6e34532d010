import { describe, expect, test } from 'vitest'
import type { FaultsInput } from '../../src/sandbox/faults/faults.ts'
import { testSeed } from '../support/seed.ts'
import { withCase } from './fault-case.ts'
import { expectEnd, expectBoughtAgainAtMostOnce, expectNothingLost, expectSound } from './invariants.ts'
import { reportFault } from './report.ts'
import { paymentMethods } from './payment-methods.ts'

const lookups = 30
const share = 0.25
const elsewhere = '0x00000000000000000000000000000000DeaDBeef'

const faults: { name: string; faults: FaultsInput }[] = [
  { name: 'connection cut before the payment is read', faults: { dropAtDoor: { share } } },
  { name: 'error before the payment is read', faults: { errorAtDoor: { share } } },
  { name: 'connection cut before settlement', faults: { dropBeforeSettlement: { share } } },
  { name: 'connection cut after settlement', faults: { dropAfterSettlement: { share } } },
  { name: 'error 500 after verification', faults: { errorAfterVerification: { share } } },
  { name: 'error 500 after settlement', faults: { errorAfterSettlement: { share } } },
  { name: 'fresh challenge after settlement', faults: { challengeAfterSettlement: { share } } },
  { name: 'settlement pending', faults: { settlementPending: { share, delayMs: 2_000 } } },
  { name: 'slow facilitator', faults: { slowFacilitator: { share, delayMs: 3_000 } } },
  { name: 'facilitator times out after settling', faults: { facilitatorTimeout: { share, delayMs: 200 } } },
  {
    name: 'price doubled between two calls',
    faults: { changedOffers: { share: 0.1, offers: [{ amountAtomic: '20000' }] } },
  },
  {
    name: 'recipient changed between two calls',
    faults: { changedOffers: { share: 0.1, offers: [{ payTo: elsewhere }] } },
  },
  { name: 'challenged again after every payment', faults: { challengeAgain: { share } } },
]

const chosen = paymentMethods.filter(({ name }) => name !== 'x402 v1')

describe.each(faults)('$name', ({ name, faults: fault }) => {
  test.concurrent.each(chosen)('by $name leaves every cent accounted for', async (method) => {
    const seed = testSeed() % 1_000_000
    await withCase(
      { lookups, faults: { seed, ...method.faults, ...fault }, file: method.file },
      async (open) => {
        const last = await open.finish()
        // A lookup that failed for good may leave a payment behind that no worker drives.
        await open.resolveOpenCharges()

        const accounts = await open.accounts()
        reportFault(`${name}, ${method.name}`, 0, accounts)
        expectSound(accounts, { rows: open.rows })
        expectBoughtAgainAtMostOnce(accounts)
        if (method.repeatsAnswers) expectNothingLost(accounts)
        expect(last.end).toBe('finished')
        expect(accounts.openAtomic).toBe(0n)
        expect(await open.sandbox.balanceOf(elsewhere)).toBe(0n)
      },
    )
  })
})

describe('a 402 loop', () => {
  test.concurrent.each(chosen)(
    'by $name signs once a lookup, moves nothing, and ends when the loop does',
    async (method) => {
      const endless = { ...method.faults, challengeAgain: { share: 1 } }
      await withCase({ lookups: 10, faults: endless, file: method.file }, async (open) => {
        expectEnd(await open.start().ended, 'parked')
        const stuck = await open.accounts()
        expectSound(stuck, { rows: open.rows })
        expect(stuck.transfers).toHaveLength(0)
        expect(stuck.charges).toHaveLength(10)

        open.sandbox.faults.set({ challengeAgain: {} })
        const last = await open.finish()
        const accounts = await open.accounts()
        reportFault(`402 loop, ${method.name}`, 0, accounts)
        expect(last.end).toBe('finished')
        expectSound(accounts, { rows: open.rows })
        // The authorizations of the loop stayed valid: none had to be signed again.
        expect(accounts.charges).toHaveLength(10)
        expect(accounts.transfers).toHaveLength(10)
      })
    },
  )
})
