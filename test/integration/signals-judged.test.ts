import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { isFullSize } from '../support/full-size.ts'
import { sharedKinds } from './crm-worlds.ts'
import { judgedPipeline } from './signals-judged.fixture.ts'

let sandbox: Sandbox
let pipeline: Awaited<ReturnType<typeof judgedPipeline>> | undefined

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(() => pipeline?.close())

const companies = 60
/** Days on which something is due, a record changes, or nothing happens at all. */
const days = [0, 1, 3, 5, 7, 14, 21, 28, 30, 33]

test.skipIf(!isFullSize).each(sharedKinds)(
  'fields in %s, scores and reports are those of an independent script, and a repeat within the days costs nothing',
  { timeout: 600_000 },
  async (kind) => {
    const watched = (pipeline = await judgedPipeline(sandbox, kind, companies))
    for (const day of days) {
      const { differences, paidUsd } = await watched.runDay(day)
      expect(differences).toEqual([])
      const repeated = await watched.repeat()
      expect(repeated).toEqual({ due: 0, bought: 0, charges: 0, runId: undefined, paidUsd: 0 })
      if (day === 0) expect(paidUsd).toBeGreaterThan(0)
    }
  },
)
