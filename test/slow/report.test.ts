import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { parse } from 'csv-parse/sync'
import { profileValues } from '../../src/domain/fields.ts'
import type { Report } from '../../src/app/reports/report.ts'
import { makeReport } from '../../src/app/reports/report.ts'
import type { RunPlan } from '../../src/app/plans/plan-text.ts'
import type { RunSummary } from '../../src/app/runs/summary.ts'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk, type Desk } from '../support/cli.ts'
import { openCrmHouse, quick, type CrmHouse } from '../integration/crm-house.ts'

let sandbox: Sandbox
let house: CrmHouse | undefined
let desk: Desk | undefined

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(async () => {
  await house?.close()
  await desk?.close()
  house = desk = undefined
})

const urlOf = (name: string) => `https://www.profnet.com/company/${name}`
const names = Array.from({ length: 30 }, (_, index) => `report-co-${index}`)
const answers = names.map((name) => companyAnswer(urlOf(name)).data)

test('counts what was matched, filled and changed, and what each of them cost', async () => {
  const policies = { hubspot: { street: 'overwrite' as const, industry: 'never' as const } }
  const mapping = { companies: { fields: { tagline: false as const } } }
  const connectors = { hubspot: { ...quick.hubspot, mapping } }
  house = await openCrmHouse(sandbox, { config: { policies, connectors } })
  for (const name of names)
    house.add('companies', { name, profnet_url: urlOf(name), address: 'Old Street 7' })
  house.add('companies', { name: 'nothing to go by' })
  const { summary } = await house.sync('companies')
  const report = await makeReport(house.context, { run: summary.runId })

  const found = answers.filter((answer) => answer !== null)
  const withAddress = found.filter((answer) => profileValues('company', answer)['street'])
  const withDescription = found.filter((answer) => answer.description)
  expect(found.length).toBeLessThan(30)
  expect(report.totals).toMatchObject({
    records: 31,
    attempted: 30,
    matched: found.length,
    filled: found.length,
    changed: withAddress.length,
    unchanged: 30 - found.length,
    skipped: 1,
    rejected: 0,
    settled: '0.300000',
  })
  const of = (name: string) => report.fields.find(({ field }) => field === name)
  expect(of('street')).toMatchObject({ filled: 0, changed: withAddress.length })
  expect(of('description')).toMatchObject({
    filled: withDescription.length,
    changed: 0,
    fillRate: Math.round((withDescription.length / found.length) * 10_000) / 10_000,
  })
  expect(of('industry')).toBeUndefined()
  expect(of('tagline')).toBeUndefined()
  expect(report.matchRate).toBe(Math.round((found.length / 30) * 10_000) / 10_000)
  expect(report.costPerMatched).toBe((Math.ceil(300_000 / found.length) / 1_000_000).toFixed(6))
  const month = await makeReport(house.context, { month: new Date().toISOString().slice(0, 7) })
  expect({ ...month, scope: report.scope }).toEqual(report)
  const other = await makeReport(house.context, { month: '2001-01' })
  expect(other).toMatchObject({ totals: { records: 0 }, matchRate: null, costPerMatched: null, runs: [] })
})

test('comes as JSON, CSV and a page that needs nothing from outside; a CSV plan is applied from the command line', async () => {
  desk = await openDesk(sandbox)
  await desk.write('in.csv', `profnet_url\n${names.slice(0, 5).map(urlOf).join('\n')}\n`)
  const plan = (await desk.run(['csv', 'in.csv', '--object', 'company', '--plan', '--json'])).json<RunPlan>()
  const applied = await desk.run(['apply', plan.planId ?? '', '--out', 'out.csv', '--json'])
  expect([applied.status, applied.stderr]).toEqual([0, expect.any(String)])
  const summary = applied.json<RunSummary & { planId: string }>()
  expect(summary).toMatchObject({ planId: plan.planId, spend: { settled: plan.cost.high }, records: 5 })
  expect(await desk.rows('out.csv')).toHaveLength(5)

  const undo = await desk.run(['undo', summary.runId])
  expect(undo).toMatchObject({ status: 0, stdout: expect.stringContaining('there is nothing to undo') })
  const report = (await desk.run(['report', summary.runId, '--json'])).json<Report>()
  const found = answers.slice(0, 5).filter((answer) => answer !== null).length
  expect(report.totals).toMatchObject({ records: 5, matched: found, filled: found, changed: 0 })
  // The rows had it: the output has the answer's value in a column beside theirs, and nothing was filled.
  const inOutput = (await desk.rows('out.csv')).filter((row) => row['paydirt_profnet_url'])
  expect(inOutput).toHaveLength(found)
  const fields = report.fields.map(({ field }) => field)
  expect(fields).toContain('company_name')
  expect(fields).not.toContain('profnet_url')
  expect(report.filledFields).toBe(report.fields.reduce((sum, { filled }) => sum + filled, 0))
  const spent = (await desk.run(['spend', '--by', 'field', '--json'])).stdout
  expect(spent).toContain('company_name')
  expect(spent).not.toContain('profnet_url')
  const told = (await desk.run(['runs', summary.runId])).stdout
  expect(told).toContain('no reason to buy, because the rows have them: profnet_url (5). Where an answer')
  expect(told).not.toContain('could not be written')

  const lines = parse((await desk.run(['report', summary.runId, '--csv'])).stdout, {
    columns: true,
  }) as Record<string, string>[]
  expect(lines.filter(({ kind }) => kind === 'run')).toMatchObject([
    { name: summary.runId, matched: String(found) },
  ])
  expect(lines.filter(({ kind }) => kind === 'field')).toHaveLength(report.fields.length)

  expect(await desk.run(['report', '--html', 'page.html'])).toMatchObject({ status: 0 })
  const page = await desk.read('page.html')
  expect(page).toContain(`<td class="words">${summary.runId}</td>`)
  expect(page.match(/<ul class="bars" aria-label="/g)?.length).toBe(3)
  expect(page).not.toMatch(/https?:\/\/|<script|<link|@import|url\(/)
  expect(await desk.run(['report', 'r-nothing'])).toMatchObject({ status: 2 })
  expect(await desk.run(['report', '--month', '2026-13'])).toMatchObject({ status: 2 })
}, 180_000)

test('a record that a run has not come to is not attempted', async () => {
  desk = await openDesk(sandbox, { config: { budgets: { runUsd: '0.03' } } as never })
  await desk.write('in.csv', `profnet_url\n${names.slice(0, 10).map(urlOf).join('\n')}\n`)
  const run = await desk.run(['csv', 'in.csv', '--object', 'company', '--out', 'out.csv', '--json'])
  const { runId, tasks } = run.json<RunSummary>()
  expect(tasks.parked).toBe(7)
  const report = (await desk.run(['report', runId, '--json'])).json<Report>()
  expect(report.totals).toMatchObject({ records: 10, attempted: 3, parked: 7 })
})
