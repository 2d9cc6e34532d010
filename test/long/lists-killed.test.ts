import { afterEach, beforeEach, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { crmKinds } from '../integration/crm-worlds.ts'
import { killLists, paidOnce } from '../integration/lists-killed.fixture.ts'

let sandbox: Sandbox
// A service of its own for each CRM: both ask for the same pages.
beforeEach(async () => void (sandbox = await startSandbox({ faults: { paymentIdentifier: true } })))
afterEach(() => sandbox.stop())

test.each(crmKinds)(
  '100 kills over fetch and apply: each page is paid once, and each company is in %s once',
  { timeout: 3_600_000 },
  async (kind) => {
    const books = await killLists(sandbox, kind, { kills: 100, rows: 60 })
    expect(books).toEqual(paidOnce(books))
  },
)
