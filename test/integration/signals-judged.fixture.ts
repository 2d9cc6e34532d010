import { makeSignalsReport } from '../../src/app/signals/reporting/signals-report.ts'
import { scoredPipelines } from '../../src/app/signals/reporting/scored-pipelines.ts'
import { runPipeline } from '../../src/app/signals/writing/run-pipeline.ts'
import { hubspotMapping } from '../../src/connectors/hubspot/mapping.ts'
import { salesforceMapping } from '../../src/connectors/salesforce/mapping.ts'
import { signalFieldNames } from '../../src/domain/fields.ts'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { advertisementRow } from '../../src/sandbox/searches/advertisements.ts'
import { cloudRow } from '../../src/sandbox/searches/clouds.ts'
import { expansionRow } from '../../src/sandbox/searches/expansion-rows.ts'
import { jobRow } from '../../src/sandbox/searches/jobs.ts'
import { newsRow } from '../../src/sandbox/searches/news.ts'
import { advertisementsAtHome } from '../../src/sandbox/world/advertisements.ts'
import { worldCompanies } from '../../src/sandbox/world/companies.ts'
import { createWorld } from '../../src/sandbox/world/world.ts'
import { startSignalsJudge, type JudgedDay } from '../support/signals-judge.ts'
import { openCrmWorld, type CrmKind } from './crm-worlds.ts'

const dayMs = 86_400_000
const begins = Date.parse('2037-11-23T08:00:00Z')
const types = ['job', 'news', 'advertisement', 'cloud', 'expansion'] as const
const operations = [
  'company.search',
  'job.search',
  'news.search',
  'advertisement.search',
  'cloud.search',
  'expansion.lookup',
]
const inCrm = {
  hubspot: { entity: 'companies', mapping: hubspotMapping, name: 'name', domain: 'domain' },
  salesforce: { entity: 'Account', mapping: salesforceMapping, name: 'Name', domain: 'Website' },
} as const

const score = {
  halfLifeDays: 30,
  points: [
    { type: 'job', match: { functions: ['sales'], seniority: ['director', 'manager'] }, points: 30 },
    { type: 'job', match: { functions: ['Sales', 'business-development'] }, points: 20, halfLifeDays: 14 },
    { type: 'job', points: 3 },
    { type: 'expansion', match: { polarity: ['negative'] }, points: -10.5 },
    { type: 'expansion', strength: 'strong', points: 22.25 },
    { type: 'expansion', points: 12 },
    { type: 'news', match: { categories: ['funding'] }, points: 8, halfLifeDays: 10 },
    { type: 'cloud', match: { providers: ['aws', 'gcp'] }, points: 10 },
    { type: 'advertisement', points: 2 },
  ],
}

/** The outcome of one simulated day. */
export interface DayOutcome {
  day: number
  due: number
  bought: number
  /** The sum of the payments on the chain. */
  paidUsd: number
  records: number
  moved: number
  /** The accounts whose jobs are told as more, or as fewer, than are open by the service. */
  tooMany: number
  tooFew: number
  /** The jobs by which they are too many, in all. */
  excess: number
  /** The differences to the judge, in words: none. */
  differences: string[]
  ms: number
}

/** A CRM with companies of the world, run once a day, and held against the judge after each run. */
export async function judgedPipeline(sandbox: Sandbox, kind: CrmKind, count: number) {
  let at = begins
  let reached = 0
  const { entity, mapping, name, domain } = inCrm[kind]
  const crm = await openCrmWorld(
    sandbox,
    kind,
    entity,
    {
      payment: { maxPricesUsd: Object.fromEntries(operations.map((operation) => [operation, '0.05'])) },
      signals: { moves: { accounts: { connector: kind }, score } },
    } as never,
    { now: () => new Date(at) },
  )
  const { context } = crm
  await sandbox.fund(crm.wallet, 1_000_000_000n)
  const pipelines = scoredPipelines(context.config)
  const judge = startSignalsJudge({ types, days: {}, ...score, since: 7 })
  const world = createWorld(sandbox.clock)
  const all = worldCompanies()
  /** The domain of each record, of the world or of nobody. */
  const accounts = new Map<string, string>()
  const add = (index: number) => {
    const { name: title, domain: site } = all[index]!
    accounts.set(crm.add({ [name]: title, [domain]: site }), site)
  }
  for (let index = 0; index < count; index += 1) add(index)
  // Campaigns that end on a day on which advertisements are asked for.
  const lastDay = Math.floor(begins / dayMs) + 14
  const ending = all.filter((company) =>
    advertisementsAtHome(company, lastDay).some((each) => each.lastDay === lastDay),
  )
  for (const { index } of ending.slice(0, 2)) add(index)
  for (const site of ['nobody-knows-it.example', 'nor-this-one.example'])
    accounts.set(crm.add({ [name]: 'Nobody knows it', [domain]: site }), site)
  const companyOf = new Map(all.map((company) => [company.domain, company]))
  const signal = new AbortController().signal
  const run = () => runPipeline(context, 'moves', { budgetAtomic: 1_000_000_000n, signal })
  const paid = async () =>
    Number((await sandbox.transfersFrom(crm.wallet)).reduce((sum, each) => sum + each.amountAtomic, 0n)) / 1e6

  /** All rows that the service has of the companies, as its searches show them. */
  function rowsOfToday(): JudgedDay['rows'] {
    const today = world.today()
    const companies = [...new Set(accounts.values())].flatMap((site) => companyOf.get(site) ?? [])
    return {
      job: companies.flatMap((company) => today.jobs.of(company).map(jobRow)),
      news: companies.flatMap((company) => today.news.of(company).map(newsRow)),
      advertisement: companies.flatMap((company) => today.advertisements.of(company).map(advertisementRow)),
      cloud: companies.flatMap((company) => today.footprints.of(company).map(cloudRow)),
      expansion: companies.flatMap((company) => today.moves.of(company).map(expansionRow)),
    }
  }

  /** A person writes another domain into a record. */
  function rename(place: number, site: string): void {
    const id = [...accounts.keys()][place]!
    crm.edit(id, { [domain]: site })
    accounts.set(id, site)
  }

  function remove(place: number): void {
    const id = [...accounts.keys()][place]!
    crm.remove(id)
    accounts.delete(id)
  }

  /** The work of people in the CRM: records come, go, and name another company than before. */
  const changes: Readonly<Record<number, () => void>> = {
    3: () => add(count),
    5() {
      rename(0, 'nobody-has-heard-of-it.example')
      rename(1, all[count + 1]!.domain)
    },
    6: () => remove(3),
    7: () => rename(0, all[count + 2]!.domain),
    20: () => remove(4),
    // Two records of one company.
    33: () => rename(5, all[6]!.domain),
  }

  return {
    /** Runs the pipeline once more at the same time. */
    async repeat() {
      const before = await paid()
      const { due, bought, charges, records } = await run()
      const paidUsd = (await paid()) - before
      return { due, bought, charges: charges.length, runId: records?.runId, paidUsd }
    },
    /** Runs the pipeline on a day, and holds records, scores and report against the judge. */
    async runDay(day: number): Promise<DayOutcome> {
      const startedAt = performance.now()
      at = begins + day * dayMs
      while (reached < day) changes[(reached += 1)]?.()
      sandbox.clock.set(new Date(at))
      const paidBefore = await paid()
      const ran = await run()
      const paidUsd = (await paid()) - paidBefore
      const verdict = await judge.judge({
        at: new Date(at).toISOString(),
        accounts: [...accounts].map(([id, site]) => ({
          id,
          domain: site,
          company: companyOf.get(site)?.id ?? null,
        })),
        rows: rowsOfToday(),
      })
      const differences: string[] = []
      if (ran.end !== 'complete' || ran.left > 0 || ran.problems.length > 0)
        differences.push(`the run ended ${ran.end}, ${ran.left} left: ${ran.problems.join(', ')}`)
      const state = crm.state()
      let [tooMany, tooFew, excess] = [0, 0, 0]
      for (const id of accounts.keys()) {
        const wanted = verdict.records[id]!
        for (const field of signalFieldNames) {
          const found = state.get(id)?.[mapping.entities[entity]!.fields[field]!.property]
          const expected = textIn(kind, wanted[field] ?? null)
          if (textOf(found) !== expected)
            differences.push(`day ${day}, ${id}, ${field}: ${textOf(found)}, and the judge has ${expected}`)
        }
        const [told, open] = [wanted['open_jobs'], verdict.open[id]!]
        if (typeof told !== 'number') continue
        if (told > open) tooMany += 1
        if (told < open) tooFew += 1
        excess += Math.max(0, told - open)
      }
      const { pipelines: reports } = await makeSignalsReport(context, pipelines, { since: '7d' })
      const report = reports[0]!
      const shown = {
        scoredOn: report.scoredOn,
        watched: report.watched,
        moved: report.moved.map((account) => ({
          id: account.id,
          hundredths: account.hundredths,
          changeHundredths: account.changeHundredths,
          stage: account.stage,
          moves: account.moves,
          newSignals: account.newSignals,
          evidence: account.evidence.map(({ at: time, ...rest }) => ({
            ...rest,
            day: time.toISOString().slice(0, 10),
          })),
        })),
        added: report.added.map(({ id }) => id).sort(),
        gone: report.gone.map(({ id }) => id).sort(),
      }
      differences.push(...differencesOf(shown, verdict.report).map((text) => `day ${day}, report: ${text}`))
      return {
        day,
        due: ran.due,
        bought: ran.bought,
        paidUsd,
        records: ran.records?.written ?? 0,
        moved: shown.moved.length,
        tooMany,
        tooFew,
        excess,
        differences,
        ms: Math.round(performance.now() - startedAt),
      }
    },
    async close() {
      await judge.stop()
      await crm.close()
    },
  }
}

function textOf(value: unknown): string | undefined {
  return value === undefined || value === null || value === '' ? undefined : String(value)
}

function textIn(kind: CrmKind, value: string | number | boolean | null): string | undefined {
  if (typeof value === 'boolean' && kind === 'salesforce') return value ? 'Yes' : 'No'
  // Salesforce writes its times so.
  if (typeof value === 'string' && kind === 'salesforce' && /^\d{4}-\d{2}-\d{2}T.*Z$/.test(value))
    return value.replace(/Z$/, '+0000')
  return textOf(value)
}

interface Shown {
  moved: object[]
}

function differencesOf(shown: Shown, judged: Shown): string[] {
  const [{ moved: ours, ...rest }, { moved: theirs, ...others }] = [shown, judged]
  const found: string[] = []
  if (sorted(rest) !== sorted(others)) found.push(`${sorted(rest)}, and the judge has ${sorted(others)}`)
  for (let place = 0; place < Math.max(ours.length, theirs.length); place += 1)
    if (sorted(ours[place]) !== sorted(theirs[place]))
      found.push(`${place + 1}: ${sorted(ours[place])}, and the judge has ${sorted(theirs[place])}`)
  return found
}

/** The same text for the same values, in whichever order their names are. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  )
}
