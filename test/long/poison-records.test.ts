import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { crmKinds } from '../integration/crm-worlds.ts'
import { expectGoodOnesUntouched, expectGoodRowsUntouched } from '../integration/poison-records.fixture.ts'

const crowd = { size: 1_000, people: 300, every: 10 }
let sandbox: Sandbox
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())

test.each(crmKinds)(
  'of a thousand records of %s a hundred are poison, and 900 come out as without them',
  async (kind) => {
    expect(await expectGoodOnesUntouched(sandbox, kind, crowd)).toMatchObject({ good: 900, bad: 100 })
  },
)

test('of a thousand rows a hundred are poison, and 900 come out as without them', async () => {
  expect(await expectGoodRowsUntouched(sandbox, crowd)).toMatchObject({ good: 900, bad: 100 })
})
