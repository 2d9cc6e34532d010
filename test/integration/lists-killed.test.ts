import { afterEach, beforeEach, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { isFullSize, sized } from '../support/full-size.ts'
import { sharedKinds } from './crm-worlds.ts'
import { killLists, paidOnce } from './lists-killed.fixture.ts'

let sandbox: Sandbox
// A service of its own for each CRM: both ask for the same pages.
beforeEach(async () => void (sandbox = await startSandbox({ faults: { paymentIdentifier: true } })))
afterEach(() => sandbox.stop())

// Its processes take more time than the short size has.
test.skipIf(!isFullSize).each(sharedKinds)(
  'commands that are killed over fetch and apply pay each page once and make each company once, in %s',
  { timeout: 900_000 },
  async (kind) => {
    const books = await killLists(sandbox, kind, { kills: sized(20, 3), rows: sized(60, 30) })
    expect(books).toEqual(paidOnce(books))
  },
)
