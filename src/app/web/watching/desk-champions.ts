import { formatUsd } from '../../../domain/money.ts'
import { counted } from '../../../domain/values/counted.ts'
import type {
  ChampionsPort,
  WatchAction,
  WatchJob,
  WatchView,
} from '../../../http/desk/model/watching/champions-port.ts'
import { championCounts, championsPage } from '../../../store/champions/champions-page.ts'
import { planChampions } from '../../champions/plan-champions.ts'
import { runChampions, type ChampionRun } from '../../champions/run-champions.ts'
import { championPurse } from '../../config/watching/purses.ts'
import type { Context } from '../../context/context.ts'
import { listMonth } from '../../money/list-months.ts'
import { chargesText } from '../../service/own-charges.ts'
import { createDeskJobs, type JobResult } from '../desk-jobs.ts'

const perPage = 25

export interface DeskChampions extends ChampionsPort {
  /** Resolves when no action is at work any more. */
  idle(): Promise<void>
}

/** The people whose jobs are watched, for the desk, from the ledger. Only its actions ask the CRM and the service. */
export function createDeskChampions(context: Context, signal: AbortSignal): DeskChampions {
  const { config, database } = context
  const { db } = database
  const jobs = createDeskJobs<WatchJob>(context, { place: 'champions' })

  async function work(watch: string, action: WatchAction, job: WatchJob): Promise<JobResult> {
    if (action.kind === 'plan') {
      const { people, due, leastUsd, mostUsd } = await planChampions(context, watch, { signal })
      return {
        text: `${counted(people, 'person', 'people')}, ${due} due: ${leastUsd} to ${mostUsd} USD at most; nothing was bought or written`,
        isDone: true,
        figures: { people, due },
      }
    }
    const run = await runChampions(context, watch, {
      budgetAtomic: action.budgetAtomic,
      signal,
      onProgress: ({ people, due, checked }) => {
        job.progress = `${counted(people, 'person', 'people')}, ${checked} of ${due} checked`
      },
    })
    job.runs = [...new Set([run.records?.runId, run.noted?.runId].flatMap((id) => id ?? []))]
    return runResult(run)
  }

  async function countsOf(watch: string) {
    return (await championCounts(db)).filter((each) => each.watch === watch)
  }

  return {
    async watches() {
      const counts = Map.groupBy(await championCounts(db), ({ watch }) => watch)
      const views: WatchView[] = []
      for (const [name, { connector, days, budgetUsd }] of Object.entries(config.champions)) {
        const { month, spentAtomic, capAtomic } = await listMonth(context, championPurse(name).budget)
        const known = counts.get(name) ?? []
        const times = known.map(({ lastCheckedAt }) => lastCheckedAt.getTime())
        views.push({
          name,
          connector,
          days,
          verdicts: Object.fromEntries(known.map(({ verdict, people }) => [verdict, people])),
          lastCheckedAt: times.length > 0 ? new Date(Math.max(...times)) : null,
          month: { month, spentAtomic, capAtomic },
          budgetAtomic: budgetUsd,
        })
      }
      return views
    },

    async people(watch, { verdict, page }) {
      const total = (await countsOf(watch))
        .filter((each) => verdict === undefined || each.verdict === verdict)
        .reduce((sum, each) => sum + each.people, 0)
      const pages = Math.max(1, Math.ceil(total / perPage))
      const shown = Math.min(Math.max(1, page), pages)
      const place = { verdict, limit: perPage, offset: (shown - 1) * perPage }
      return { people: await championsPage(db, watch, place), page: shown, pages }
    },

    start: (watch, action, by, onEnd) =>
      jobs.start(watch, { kind: action.kind, by }, (job) => work(watch, action, job), onEnd),
    job: jobs.of,
    idle: jobs.idle,
  }
}

function runResult(run: ChampionRun): JobResult {
  const { people, due, checked, left, verdicts, bought, charges, end, reason, records, noted } = run
  const isDone = end === 'complete' && (records === undefined || records.end === 'finished')
  const why = end === 'complete' ? '' : `: ${end === 'interrupted' ? 'stopped' : (reason ?? end)}`
  const found = Object.entries(verdicts).map(([verdict, number]) => `${number} ${verdict}`)
  const parts = [
    `${counted(people, 'person', 'people')}, ${checked} of ${due} checked${found.length > 0 ? ` (${found.join(', ')})` : ''}`,
    ...(left > 0 ? [`${left} left for the next run`] : []),
    `${counted(bought, 'answer')} bought, ${chargesText(charges)}`,
    ...(records ? [`${records.written} records written`] : []),
    ...(noted ? [`${counted(noted.notes, 'note')} and ${counted(noted.tasks, 'task')}`] : []),
  ]
  return {
    text: `${parts.join('; ')}${why}`,
    isDone,
    figures: {
      end,
      people,
      due,
      checked,
      bought,
      committed: formatUsd(run.committedAtomic),
      ...(records ? { written: records.written } : {}),
    },
  }
}
