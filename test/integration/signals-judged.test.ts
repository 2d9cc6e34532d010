import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { isFullSize, sized } from '../support/full-size.ts'
import { sharedKinds } from './crm-worlds.ts'
import { judgedPipeline } from './signals-judged.fixture.ts'

let sandbox: Sandbox
let pipeline: Awaited<ReturnType<typeof judgedPipeline>>

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(() => pipeline.close())

const companies = sized(60, 16)
const days = isFullSize ? Array.from({ length: 36 }, (_, day) => day) : [0, 3, 5, 7]

test.each(sharedKinds)(
  'fields in %s, scores and reports are those of an independent script, and a repeat within the days costs nothing',
  async (kind) => {
    pipeline = await judgedPipeline(sandbox, kind, companies)
    for (const day of days) {
      const { differences, paidUsd } = await pipeline.runDay(day)
      expect(differences).toEqual([])
      const repeated = await pipeline.repeat()
      expect(repeated).toEqual({ due: 0, bought: 0, charges: 0, runId: undefined, paidUsd: 0 })
      if (day === 0) expect(paidUsd).toBeGreaterThan(0)
    }
  },
)
