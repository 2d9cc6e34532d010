import type {
  ComparedView,
  MonitorAction,
  MonitorJob,
  MonitorsPort,
  MonitorView,
} from '../../../http/desk/model/watching/monitors-port.ts'
import { hasDrift, type MonitorStep } from '../../../domain/monitors/monitor-plan.ts'
import { counted } from '../../../domain/values/counted.ts'
import { matchCounts, matchesOfMonitor } from '../../../store/matches/matches-page.ts'
import { noteComparison } from '../../../store/monitors/declared-monitors.ts'
import { monitorsState } from '../../../store/monitors/monitors-state.ts'
import type { ActionEnd } from '../../actions/action-end.ts'
import { matchCaps } from '../../config/watching/match-lists.ts'
import type { Context } from '../../context/context.ts'
import { listMonths } from '../../money/list-months.ts'
import { act } from '../../monitors/apply-monitors.ts'
import { compareMonitors } from '../../monitors/compare-monitors.ts'
import { monitorId } from '../../monitors/one-monitor.ts'
import { chargesText } from '../../service/own-charges.ts'
import { createDeskJobs, type JobResult } from '../desk-jobs.ts'

const perPage = 25
/** Actions on monitors share one name: each asks the service about the same workspace. */
const allMonitors = 'monitors'

export interface DeskMonitors extends MonitorsPort {
  /** Resolves when no action is at work any more. */
  idle(): Promise<void>
}

/** The monitors of the settings for the desk. A page reads the ledger; the last comparison is kept with its time. */
export function createDeskMonitors(context: Context, signal: AbortSignal): DeskMonitors {
  const { config, database, now } = context
  const { db } = database
  const jobs = createDeskJobs<MonitorJob>(context, { place: 'monitors' })
  let compared: ComparedView | undefined
  /** The statuses that comparisons and actions have shown here, by name. They are later than those of the logs, or say the same. */
  const seen = new Map<string, string>()

  async function work(action: MonitorAction): Promise<JobResult> {
    if (action.kind === 'compare') {
      const { steps, foreign, warnings } = await compareMonitors(context, { signal })
      compared = { at: now(), steps, foreign, warnings }
      for (const step of steps) noteStatus(step)
      const differing = steps.filter((step) => step.do !== 'nothing').length
      return {
        text: hasDrift(steps)
          ? `${counted(differing, 'monitor')} at the service ${differing === 1 ? 'is' : 'are'} not as the settings say`
          : 'every monitor at the service is as the settings say',
        isDone: true,
        figures: { monitors: steps.length, differing },
      }
    }
    const { kind, monitor } = action
    const status = kind === 'pause' ? 'paused' : 'active'
    const body = { monitor_id: await monitorId(context, monitor), status }
    const end = await act(context, 'monitor.update', body, { signal, isNoted: true })
    // The comparison tells of the time before.
    if (end.state === 'done') {
      compared = undefined
      seen.set(monitor, status)
      if (declaredStatus(monitor) !== status)
        await noteComparison(db, [{ name: monitor, differs: true }], now())
    }
    return actionResult(end, declaredStatus(monitor), status)
  }

  function declaredStatus(name: string): string {
    return config.monitors[name]?.status ?? 'active'
  }

  function noteStatus(step: MonitorStep): void {
    if (step.do === 'create') seen.delete(step.name)
    if (step.do === 'nothing') seen.set(step.name, declaredStatus(step.name))
    if (!('changes' in step)) return
    const change = step.changes.find(({ field }) => field === 'status')
    seen.set(step.name, change ? String(change.shown) : declaredStatus(step.name))
  }

  return {
    async read() {
      const { monitors, others, headers } = await monitorsState(db)
      const known = new Map(monitors.map((each) => [each.name, each]))
      const counts = Map.groupBy(await matchCounts(db), ({ monitor }) => monitor)
      const months = new Map((await listMonths(context)).map((each) => [each.list, each]))
      const month = now().toISOString().slice(0, 7)
      const views = Object.entries(config.monitors).map(([name, settings]): MonitorView => {
        const caps = matchCaps(config, name)
        const spent = ['companies', 'people'].map(
          (part) => months.get(`monitors.${name}.${part}`)?.spentAtomic ?? 0n,
        )
        return {
          name,
          mode: settings.detection_mode,
          signalTypes: settings.signal_types,
          declaredStatus: declaredStatus(name),
          status: seen.get(name) ?? known.get(name)?.status ?? undefined,
          webhook: settings.webhook,
          worksMatches: settings.onMatch !== undefined,
          enrichesByItself: settings.automaticPersonEnrichment !== undefined,
          known: known.get(name),
          matches: counts.get(name) ?? [],
          month: {
            month,
            spentAtomic: spent.reduce((sum, each) => sum + each, 0n),
            capAtomic: caps.monthAtomic,
          },
          dayCapAtomic: caps.dayAtomic,
        }
      })
      return { monitors: views, others, headers, compared }
    },

    async matches(monitor, page) {
      const found = await matchesOfMonitor(db, monitor, {
        limit: perPage + 1,
        offset: (page - 1) * perPage,
      })
      return { matches: found.slice(0, perPage), page, hasNext: found.length > perPage }
    },

    start(action, by, onEnd) {
      const monitor = 'monitor' in action ? action.monitor : undefined
      return jobs.start(allMonitors, { kind: action.kind, by, monitor }, () => work(action), onEnd)
    },
    job: () => jobs.of(allMonitors),
    idle: jobs.idle,
  }
}

function actionResult(end: ActionEnd, declared: string, status: string): JobResult {
  const cost = chargesText([...end.charges, ...end.readings])
  const figures = { state: end.state, cost }
  switch (end.state) {
    case 'done':
      return {
        text: `It is ${status} at the service now, ${cost}${declared === status ? '' : `. The settings say ${declared}: change them too, or the next apply restores that`}`,
        isDone: true,
        figures,
      }
    case 'refused':
      return {
        text: `It was refused, and nothing was changed: ${end.reason}, ${cost}`,
        isDone: false,
        figures,
      }
    case 'in_doubt':
      return { text: `It is in doubt: ${end.reason}, ${cost}. ${end.advice}`, isDone: false, figures }
    case 'parked':
      return { text: `It was not carried out: ${end.reason}, ${cost}`, isDone: false, figures }
    case 'interrupted':
      return { text: `It was stopped, ${cost}; the same action goes on`, isDone: false, figures }
  }
}
