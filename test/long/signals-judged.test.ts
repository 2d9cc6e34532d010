import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { judgedPipeline, type DayOutcome } from '../integration/signals-judged.fixture.ts'

let sandbox: Sandbox
let pipeline: Awaited<ReturnType<typeof judgedPipeline>>

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(() => pipeline.close())

const companies = 2_000
const days = 60
/** Everything in reach is asked for once more in this week: it is no quiet one. */
const wholeWeek = 4

test(
  `${companies} accounts over ${days} days: fields, scores and reports are those of the judge, and quiet weeks are cheap`,
  { timeout: 7_200_000 },
  async () => {
    pipeline = await judgedPipeline(sandbox, 'hubspot', companies)
    const outcomes: DayOutcome[] = []
    for (let day = 0; day < days; day += 1) {
      const outcome = await pipeline.runDay(day)
      outcomes.push(outcome)
      const { differences, ...figures } = outcome
      const line = JSON.stringify({
        ...figures,
        differences: differences.length,
        first: differences.slice(0, 3),
      })
      process.stdout.write(`${line}\n`)
      expect(differences.slice(0, 20)).toEqual([])
      if (day % 10 === 0)
        expect(await pipeline.repeat()).toEqual({
          due: 0,
          bought: 0,
          charges: 0,
          runId: undefined,
          paidUsd: 0,
        })
    }
    const weeks = Array.from({ length: Math.floor(days / 7) }, (_, week) =>
      outcomes.slice(week * 7, week * 7 + 7).reduce((sum, { paidUsd }) => sum + paidUsd, 0),
    )
    const shares = weeks.map((usd) => usd / weeks[0]!)
    process.stdout.write(
      `${shares.map((share) => `${(share * 100).toFixed(1)} %`).join(', ')} of the first week\n`,
    )
    expect(shares.filter((share, week) => week > 0 && week !== wholeWeek && share > 0.25)).toEqual([])
  },
)
