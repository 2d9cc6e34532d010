import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { isFullSize } from '../support/full-size.ts'
import { judgeWorld } from './champions-judged.fixture.ts'

let sandbox: Sandbox
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())

// A thousand are judged in test/long.
test.skipIf(!isFullSize)('verdicts and records of champions equal an independent script’s', async () => {
  expect(await judgeWorld(sandbox, 60, 3_500)).toMatchObject({ falseMoves: 0 })
})
