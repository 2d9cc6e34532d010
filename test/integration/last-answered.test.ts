import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { lastAnswered } from '../../src/store/contract/last-answered.ts'
import { openHouse } from '../support/house.ts'
import { makeFile } from '../support/spellings.ts'

let sandbox: Sandbox
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())

test('the ledger knows when an operation was answered last, if that was lately', async () => {
  const house = await openHouse(sandbox)
  try {
    const { db } = house.context.database
    const since = new Date(Date.now() - 1_000)
    expect(await lastAnswered(db, 'company.profile', since)).toBeUndefined()
    await house.enrich(makeFile(['answered-1', 'answered-2']))
    const at = await lastAnswered(db, 'company.profile', since)
    expect(at?.getTime()).toBeGreaterThanOrEqual(since.getTime())
    expect(await lastAnswered(db, 'company.profile', new Date(Date.now() + 60_000))).toBeUndefined()
    expect(await lastAnswered(db, 'person.profile', since)).toBeUndefined()
  } finally {
    await house.close()
  }
})
