import { afterEach, beforeEach, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { deliverAndKill, workedOnce } from '../integration/monitor-kills.fixture.ts'

let sandbox: Sandbox
beforeEach(async () => void (sandbox = await startSandbox()))
afterEach(() => sandbox.stop())

test(
  '10,000 signals of five companies, each sent three times in random order, over 50 kills and an outage, are worked once',
  { timeout: 7_200_000 },
  async () => {
    const worked = await deliverAndKill(sandbox, { signals: 10_000, kills: 50 })
    process.stdout.write(`${JSON.stringify(worked)}\n`)
    expect(workedOnce(worked, 10_000)).toBe(true)
    expect(worked).toMatchObject({ killed: 50 })
    expect((worked.outcomes['worked'] ?? 0) + (worked.outcomes['missed'] ?? 0)).toBe(10_000)
  },
)
