import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { sharedKinds } from '../integration/crm-worlds.ts'
import {
  expectGoodOnesUntouched,
  expectGoodRowsUntouched,
  poisons,
  syncOneWithBadField,
  type Crowd,
} from '../integration/poison-records.fixture.ts'

let sandbox: Sandbox
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())

test('there are more than thirty kinds of poison', () =>
  expect(new Set(poisons.map((one) => JSON.stringify(one))).size).toBeGreaterThan(30))

// test/long does the same with a thousand records, of which every tenth is poison.
const crowd: Crowd = { size: 93, people: 6, every: 3 }

test.each(sharedKinds)(
  'every third record of %s is poison, and the others come out as without them',
  async (kind) => {
    expect(await expectGoodOnesUntouched(sandbox, kind, crowd)).toMatchObject({ good: 62, bad: 31 })
  },
)

test.each(sharedKinds)('nothing is bought for a record of %s that could not be written', async (kind) => {
  expect(await syncOneWithBadField(sandbox, kind)).toEqual({ rejected: 1, bought: 0 })
})

test('every third row of a file is poison, and the others come out as without them', async () => {
  expect(await expectGoodRowsUntouched(sandbox, crowd)).toMatchObject({ good: 62, bad: 31 })
})
