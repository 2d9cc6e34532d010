import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { readSpend } from '../../src/app/money/spend-report.ts'
import { explainScore } from '../../src/app/signals/reporting/explain-score.ts'
import { scoredPipelines } from '../../src/app/signals/reporting/scored-pipelines.ts'
import { makeSignalsReport } from '../../src/app/signals/reporting/signals-report.ts'
import { runPipeline } from '../../src/app/signals/writing/run-pipeline.ts'
import { hubspotMapping } from '../../src/connectors/hubspot/mapping.ts'
import { parseUsd } from '../../src/domain/money.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { worldCompanies } from '../../src/sandbox/world/companies.ts'
import { isFullSize, sized } from '../support/full-size.ts'
import { openCrmWorld, type CrmWorld } from './crm-worlds.ts'

const dayMs = 86_400_000
const operations = [
  'company.search',
  'job.search',
  'news.search',
  'advertisement.search',
  'cloud.search',
  'expansion.lookup',
]
const scoreProperty = hubspotMapping.entities['companies']!.fields['signal_score']!.property

let sandbox: Sandbox
let crm: CrmWorld

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(() => crm.close())

test.skipIf(!isFullSize)(
  'the score in the CRM is the one that is explained and reported, and the cost is what was spent',
  async () => {
    let at = new Date('2037-11-23T08:00:00Z')
    sandbox.clock.set(at)
    crm = await openCrmWorld(
      sandbox,
      'hubspot',
      'companies',
      {
        payment: { maxPricesUsd: Object.fromEntries(operations.map((operation) => [operation, '0.05'])) },
        signals: {
          moves: {
            accounts: { connector: 'hubspot' },
            score: {
              halfLifeDays: 20,
              points: [
                { type: 'job', match: { functions: ['sales'] }, points: 12.5, halfLifeDays: 9 },
                { type: 'job', points: 3 },
                { type: 'news', points: 5 },
                { type: 'expansion', points: 20 },
              ],
            },
          },
        },
      } as never,
      { now: () => at },
    )
    const { context } = crm
    const names = worldCompanies().slice(0, sized(60, 5))
    const ids = names.map(({ name, domain }) => crm.add({ name, domain }))
    const pipelines = scoredPipelines(context.config)
    const run = () =>
      runPipeline(context, 'moves', { budgetAtomic: 20_000_000n, signal: new AbortController().signal })
    await run()
    const earlier = await scores()
    at = new Date(at.getTime() + 8 * dayMs)
    sandbox.clock.set(at)
    await run()

    const later = await scores()
    const { pipelines: reports } = await makeSignalsReport(context, pipelines, { since: '8d' })
    const [report] = reports as [(typeof reports)[0]]
    expect(report.watched).toBe(ids.length)
    expect(report.moved.length).toBeGreaterThan(0)
    for (const { id, hundredths, changeHundredths, evidence } of report.moved) {
      expect(hundredths).toBe(later.get(id))
      expect(changeHundredths).toBe(later.get(id)! - earlier.get(id)!)
      expect(evidence.length).toBeGreaterThan(0)
    }
    const all = await makeSignalsReport(context, pipelines, { since: '30d' })
    const { rows } = await readSpend(context, 'day')
    const settled = rows.reduce((sum, row) => sum + parseUsd(row.settled), 0n)
    expect(settled).toBeGreaterThan(0n)
    expect(all.pipelines[0]?.cost.map((cost) => [cost.currency, parseUsd(cost.settled)])).toEqual([
      ['USD', settled],
    ])
    const { rows: lists } = await readSpend(context, 'list')
    expect(lists.map((row) => [(row as { list?: string }).list, parseUsd(row.settled)])).toEqual([
      ['signals/moves', settled],
    ])

    /** Returns the explained score of each account, which is the sum of its addends and the one in its record. */
    async function scores(): Promise<Map<string, number>> {
      const found = new Map<string, number>()
      for (const id of ids) {
        const record = { connector: 'hubspot', object: 'companies', id }
        const [score] = (await explainScore(context, pipelines, record, 'moves')).scores
        expect(score!.addends.reduce((sum, { hundredths }) => sum + hundredths, 0)).toBe(score!.hundredths)
        expect(Number(crm.state().get(id)?.[scoreProperty])).toBe(score!.hundredths / 100)
        found.set(id, score!.hundredths)
      }
      return found
    }
  },
)
