import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { RunSummary } from '../../src/app/runs/summary.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk, type Desk } from '../support/cli.ts'
import { makeFile } from '../support/spellings.ts'

let sandbox: Sandbox
let desk: Desk
const year = '31536000'
const command = ['csv', 'in.csv', '--object', 'company', '--out', 'out.csv', '--json']

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
beforeEach(async () => {
  sandbox.faults.reset()
  desk = await openDesk(sandbox)
  await desk.write('in.csv', makeFile(['one', 'two', 'three']).csv)
})
afterEach(() => desk.close())

test('a record is written without its logo where the logo endpoint asks for a year', async () => {
  sandbox.faults.set({ logoRateLimit: { limit: 1, windowMs: 3_600_000, retryAfter: year } })
  const run = await desk.run(command)
  expect(run).toMatchObject({ status: 0 })
  expect(run.json<RunSummary>().tasks).toMatchObject({ written: 3, parked: 0 })
})

test('a refusal of a year parks the work and says why', async () => {
  sandbox.faults.set({ rateLimit: { limit: 2, windowMs: 3_600_000, retryAfter: year } })
  const run = await desk.run(command)
  expect(run).toMatchObject({ status: 3 })
  const { tasks, reasons = [] } = run.json<RunSummary>()
  expect(tasks.parked).toBeGreaterThan(0)
  expect(reasons).toContainEqual(
    expect.objectContaining({ status: 'parked', reason: expect.stringMatching(/429.*every ten minutes/) }),
  )
})
