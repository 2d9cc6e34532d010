import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { isFullSize } from '../support/full-size.ts'
import { deliverAndKill, workedOnce } from './monitor-kills.fixture.ts'

let sandbox: Sandbox
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())

test.runIf(isFullSize)(
  'signals that are sent three times to processes that are killed, or never sent, are worked once',
  async () => {
    const signals = 200
    const worked = await deliverAndKill(sandbox, { signals, kills: 12 })
    expect(workedOnce(worked, signals)).toBe(true)
    expect((worked.outcomes['worked'] ?? 0) + (worked.outcomes['missed'] ?? 0)).toBe(signals)
    expect(worked.outcomes['missed']).toBeGreaterThanOrEqual(signals / 10)
  },
)
