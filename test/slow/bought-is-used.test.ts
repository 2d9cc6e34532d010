import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { sized } from '../support/full-size.ts'
import { testSeed } from '../support/seed.ts'
import { buyContacts, expectUsed } from '../integration/bought-is-used.fixture.ts'
import { sharedKinds } from '../integration/crm-worlds.ts'

let sandbox: Sandbox
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())

// test/long/bought-is-used.test.ts does the same for 50 mappings and policies with 200 contacts each.
test.each(sharedKinds)(
  'every e-mail and phone that is bought is found in %s, and nothing else is bought',
  async (kind) => {
    const seed = testSeed() % 100
    const plain = await buyContacts(sandbox, kind, { seed, records: sized(20, 12), isDefault: true })
    expectUsed(plain)
    expect(plain.found).toBeGreaterThan(2)
    expectUsed(await buyContacts(sandbox, kind, { seed: seed + 1, records: sized(20, 12) }))
  },
  120_000,
)
