import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openContactDesk, type ContactDesk } from '../support/contact-desk.ts'

let sandbox: Sandbox
let desk: ContactDesk
// The sandbox counts what is paid for twice: no two tests ask for the same people.
let met = 1_000

beforeAll(async () => {
  // A server that repeats its answers: what a kill cuts off is had again, and nothing may be lost.
  sandbox = await startSandbox({ faults: { paymentIdentifier: true } })
})
afterAll(() => sandbox.stop())
beforeEach(async () => {
  desk = await openContactDesk(sandbox, met)
  met += desk.people.length
})
afterEach(() => desk.close())

describe.each([
  ['before a batch of contacts is answered', () => sandbox.stats().byEndpoint.contacts_batch ?? 0, 2],
  ['once a redemption was started and paid for', () => sandbox.stats().byEndpoint.redemptions_batch ?? 0, 3],
  ['while its answer is asked for', () => sandbox.stats().byEndpoint.redemptions_query ?? 0, 1],
] as const)('killed %s', (_, count, after) => {
  test('goes on where it stood, and pays nothing twice', async () => {
    const before = count()
    await desk.start(desk.command).killWhen('SIGKILL', () => count() >= before + after)
    const summary = await desk.untilDone()
    expect(summary.spend).toMatchObject({ settled: desk.total, inDoubt: '0.000000', lost: '0.000000' })
    await desk.everyEmailIsThere()
    expect(sandbox.stats().keysPaidTwice).toBe(0)
    const onChain = (await desk.transfers()).reduce((sum, { amountAtomic }) => sum + amountAtomic, 0n)
    const { charges, shares } = await desk.money()
    expect(onChain).toBe(charges.reduce((sum, { amount }) => sum + amount, 0n))
    expect(shares).toBe(onChain)
  }, 180_000)
})
