import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { worldCompanies } from '../../src/sandbox/world/companies.ts'
import { sized } from '../support/full-size.ts'
import { sharedKinds } from './crm-worlds.ts'
import { judgedPipeline } from './signals-judged.fixture.ts'

let sandbox: Sandbox
let pipeline: Awaited<ReturnType<typeof judgedPipeline>>

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(() => pipeline.close())

const companies = sized(60, 20)
const days = sized(40, 8)

describe.each(sharedKinds)('signals of %s', (kind) => {
  test('fields, scores and reports are those of an independent script, and a repeat costs nothing', async () => {
    pipeline = await judgedPipeline(sandbox, kind, companies)
    const differences: string[] = []
    for (let day = 0; day < days; day += 1) {
      if (day === 3) pipeline.add(companies)
      // Of a company that nobody knows, and of another one that is known.
      if (day === 5) pipeline.rename(pipeline.ids()[0]!, 'nobody-has-heard-of-it.example')
      if (day === 5) pipeline.rename(pipeline.ids()[1]!, worldCompanies()[companies + 1]!.domain)
      const outcome = await pipeline.runDay(day)
      console.log(JSON.stringify(outcome).slice(0,400))
      differences.push(...outcome.differences)
      const again = await pipeline.run()
      expect(again).toMatchObject({ due: 0, bought: 0, charges: [], records: { runId: undefined } })
    }
    expect(differences).toEqual([])
  })
})
