import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { buyContacts, type Bought } from '../integration/bought-is-used.fixture.ts'
import { crmKinds } from '../integration/crm-worlds.ts'
import { testSeed } from '../support/seed.ts'

const mappings = Number(process.env['PAYDIRT_TEST_MAPPINGS'] ?? 50)
const records = 200

let sandbox: Sandbox
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())

test.each(crmKinds)(
  'whatever the mapping and policy, every e-mail and phone that is bought is found in %s',
  async (kind) => {
    const total: Bought = { usd: 0, revealed: 0, found: 0, useless: [], lost: [] }
    for (let round = 0; round < mappings; round += 1) {
      const seed = (testSeed() % 100) + round
      const bought = await buyContacts(sandbox, kind, { seed, records, isDefault: round === 0 })
      total.usd += bought.usd
      total.revealed += bought.revealed
      total.found += bought.found
      total.useless.push(...bought.useless)
      total.lost.push(...bought.lost)
      process.stdout.write(
        `${kind} ${round + 1} of ${mappings} (seed ${seed}): ${bought.usd.toFixed(2)} USD, ${bought.found} of ${bought.revealed} revealed are in the CRM, ${bought.useless.length} useless\n`,
      )
    }
    expect({ useless: total.useless, lost: total.lost }).toEqual({ useless: [], lost: [] })
    expect(total.found).toBeGreaterThan(mappings)
  },
  7_200_000,
)
