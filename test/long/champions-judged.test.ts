import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { judgeWorld } from '../integration/champions-judged.fixture.ts'

let sandbox: Sandbox
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())

test(
  'of 1,000 champions every verdict and record equals an independent script’s, and none has moved falsely',
  { timeout: 3_600_000 },
  async () => {
    const numbers = await judgeWorld(sandbox, 1_000, 0)
    process.stderr.write(`${JSON.stringify(numbers)}\n`)
    expect(numbers).toMatchObject({ falseMoves: 0, there: 50 })
  },
)
