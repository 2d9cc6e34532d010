import { ConfigError } from '../../../domain/errors.ts'
import { formatUsd, parseUsd } from '../../../domain/money.ts'
import { signalTypes } from '../../../domain/signals/signal.ts'
import { timelineOf } from '../../../domain/signals/timeline.ts'
import { counted } from '../../../domain/values/counted.ts'
import { shareReadings } from '../../../http/desk/model/readings.ts'
import type {
  AccountView,
  MovedAccounts,
  PipelineAction,
  PipelineJob,
  PipelinePlan,
  PipelineView,
  SignalsPort,
} from '../../../http/desk/model/watching/signals-port.ts'
import { accountState, checksOfAccount, rankedAccounts } from '../../../store/signals/account-page.ts'
import { pipelineFigures } from '../../../store/signals/figures.ts'
import { signalsOf } from '../../../store/signals/kept-signals.ts'
import { scoreHistory } from '../../../store/signals/score-days.ts'
import { pipelineBudget } from '../../config/watching/purses.ts'
import type { Context } from '../../context/context.ts'
import { listMonth } from '../../money/list-months.ts'
import { readRecordName } from '../../records/history.ts'
import { chargesText } from '../../service/own-charges.ts'
import { planSignals } from '../../signals/plan-signals.ts'
import { explainScore } from '../../signals/reporting/explain-score.ts'
import { scoredPipelines } from '../../signals/reporting/scored-pipelines.ts'
import { makeSignalsReport } from '../../signals/reporting/signals-report.ts'
import { runPipeline, type PipelineRun } from '../../signals/writing/run-pipeline.ts'
import { createDeskJobs, type JobResult } from '../desk-jobs.ts'

const perPage = 25
const eventsPerPage = 50
/** A report of many accounts takes a moment: visitors share one for so long. */
const reportFreshMs = 20_000

export interface DeskSignals extends SignalsPort {
  /** Resolves when no action is at work any more. */
  idle(): Promise<void>
}

/** The pipelines of the settings for the desk, from the ledger. Only its actions ask the CRM and the service. */
export function createDeskSignals(context: Context, signal: AbortSignal): DeskSignals {
  const { config, database } = context
  const { db } = database
  const scored = scoredPipelines(config)
  const reports = new Map<string, () => Promise<MovedAccounts>>()
  const plans = new Map<string, PipelinePlan>()
  const jobs = createDeskJobs<PipelineJob>(context, { place: 'signals', onChange: () => reports.clear() })

  async function work(pipeline: string, action: PipelineAction, job: PipelineJob): Promise<JobResult> {
    if (action.kind === 'plan') {
      const plan = await planSignals(context, pipeline, { signal })
      plans.set(pipeline, planView(plan, context.now()))
      const due = Object.values(plan.due).reduce((sum, checks) => sum + checks, 0)
      return {
        text: `${counted(plan.accounts, 'account')}, ${counted(due, 'check')} due; nothing was bought or written`,
        isDone: true,
        figures: { accounts: plan.accounts, due },
      }
    }
    const run = await runPipeline(context, pipeline, {
      budgetAtomic: action.budgetAtomic,
      signal,
      onProgress: ({ accounts, due, checked }) => {
        job.progress = `${counted(accounts, 'account')}, ${checked} of ${due} checks made`
      },
      onWriting: (records) => {
        job.progress = `${counted(records, 'record')} written or compared`
      },
    })
    job.runs = [run.records?.runId, run.noted?.runId].flatMap((id) => id ?? [])
    return runResult(run)
  }

  return {
    async pipelines() {
      const figures = new Map((await pipelineFigures(db)).map((each) => [each.pipeline, each]))
      const views: PipelineView[] = []
      for (const [name, { accounts, types = signalTypes, budgetUsd }] of Object.entries(config.signals)) {
        const { month, spentAtomic, capAtomic } = await listMonth(context, pipelineBudget(name))
        const known = figures.get(name)
        views.push({
          name,
          source: 'list' in accounts ? { list: accounts.list } : { ...accounts, entity: accounts.entity },
          types,
          accounts: known?.accounts ?? 0,
          unmatched: known?.unmatched ?? 0,
          signals: known?.signals ?? 0,
          lastCheckAt: known?.lastCheckAt ?? null,
          month: { month, spentAtomic, capAtomic },
          budgetAtomic: budgetUsd,
        })
      }
      return views
    },

    moved(pipeline, days) {
      const key = `${pipeline} ${days}`
      const read = reports.get(key) ?? shareReadings(() => movedOf(pipeline, days), reportFreshMs)
      reports.set(key, read)
      return read()
    },

    async accounts(pipeline, page) {
      const read = (of: number) =>
        rankedAccounts(db, pipeline, { limit: perPage, offset: (of - 1) * perPage })
      const { total, accounts } = await read(page)
      const pages = Math.max(1, Math.ceil(total / perPage))
      const shown = Math.min(page, pages)
      return {
        accounts: (shown === page ? accounts : (await read(shown)).accounts).map(
          ({ recordId, ...account }) => ({ ...account, id: recordId }),
        ),
        total,
        page: shown,
        pages,
      }
    },

    async account(record, page): Promise<AccountView | { missing: string }> {
      try {
        return await accountOf(record, page)
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error
        return { missing: error.message }
      }
    },

    start: (pipeline, action, by, onEnd) =>
      jobs.start(pipeline, { kind: action.kind, by }, (job) => work(pipeline, action, job), onEnd),
    job: jobs.of,
    plan: (pipeline) => plans.get(pipeline),
    idle: jobs.idle,
  }

  async function movedOf(pipeline: string, days: number): Promise<MovedAccounts> {
    const { madeAt, since, pipelines } = await makeSignalsReport(context, scored, {
      pipeline,
      since: `${days}d`,
    })
    const { cost, ...report } = pipelines[0]!
    const of = (currency: 'USD' | 'credit') => cost.find((each) => each.currency === currency)
    return {
      ...report,
      madeAt,
      since,
      spend: {
        settledAtomic: parseUsd(of('USD')?.settled ?? '0'),
        inDoubtAtomic: parseUsd(of('USD')?.inDoubt ?? '0'),
        lostAtomic: parseUsd(of('USD')?.lost ?? '0'),
        creditsAtomic: parseUsd(of('credit')?.settled ?? '0'),
      },
    }
  }

  async function accountOf(record: string, page: number): Promise<AccountView> {
    const { account, scores } = await explainScore(context, scored, readRecordName(record), undefined)
    const signals = (await signalsOf(db, [account.id])).get(account.id) ?? []
    const histories = new Map(
      await Promise.all(
        scores.map(async ({ pipeline }) => {
          const history = await scoreHistory(db, pipeline, [account.id], '0001-01-01')
          return [pipeline, history.get(account.id) ?? []] as const
        }),
      ),
    )
    const events = timelineOf(signals, [...histories.values()])
    const pages = Math.max(1, Math.ceil(events.length / eventsPerPage))
    const shown = Math.min(Math.max(1, page), pages)
    const { connector, entity, recordId: id, name, stage } = account
    return {
      ...(await accountState(db, account.id)),
      account: { connector, entity, id, name, stage },
      scores: scores.map(({ unscored, ...score }) => ({
        ...score,
        unscored: unscored.length,
        history: histories.get(score.pipeline) ?? [],
      })),
      checks: await checksOfAccount(db, account.id),
      events: events.slice((shown - 1) * eventsPerPage, shown * eventsPerPage),
      total: events.length,
      page: shown,
      pages,
    }
  }
}

const periods = { first: 'the first time', week: 'a week', month: 'a month' } as const

function planView(plan: Awaited<ReturnType<typeof planSignals>>, madeAt: Date): PipelinePlan {
  const { accounts, due, requests, costAtMostUsd, skipped, suppressed } = plan
  return {
    madeAt,
    accounts,
    due,
    skipped,
    suppressed,
    periods: (['first', 'week', 'month'] as const).map((name) => ({
      period: periods[name],
      ...requests[name],
      leastAtomic: parseUsd(costAtMostUsd[name].least),
      likelyAtomic: parseUsd(costAtMostUsd[name].likely),
    })),
  }
}

function runResult(run: PipelineRun): JobResult {
  const { accounts, due, checked, left, unmatched, bought, charges, end, reason, records, noted } = run
  const isDone = end === 'complete' && (records === undefined || records.end === 'finished')
  const why = end === 'complete' ? '' : `: ${end === 'interrupted' ? 'stopped' : (reason ?? end)}`
  const parts = [
    `${counted(accounts.length, 'account')}, ${checked} of ${due} checks made`,
    ...(left > 0 ? [`${left} left for the next run`] : []),
    ...(unmatched > 0 ? [`${unmatched} accounts that the service does not know`] : []),
    `${counted(bought, 'answer')} bought, ${chargesText(charges)}`,
    ...(records ? [`${records.written} records written`] : []),
    ...(noted ? [`${counted(noted.notes, 'note')} and ${counted(noted.tasks, 'task')}`] : []),
  ]
  return {
    text: `${parts.join('; ')}${why}`,
    isDone,
    figures: {
      end,
      accounts: accounts.length,
      due,
      checked,
      bought,
      committed: formatUsd(run.committedAtomic),
      ...(records ? { written: records.written } : {}),
    },
  }
}
