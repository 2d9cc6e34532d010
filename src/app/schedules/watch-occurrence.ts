import type { Connector } from '../../connectors/connector.ts'
import { parseUsd, type Atomic } from '../../domain/money.ts'
import { counted } from '../../domain/values/counted.ts'
import { pipelineEntity } from '../../domain/signals/scheduled-report.ts'
import type { Occurrence } from '../../store/runs/schedule-occurrences.ts'
import type { ScheduleLedger } from '../../store/runs/schedules.ts'
import type { Context } from '../context/context.ts'
import { championsNamed, personEntity } from '../champions/candidates.ts'
import { runChampions, type ChampionRun } from '../champions/run-champions.ts'
import { companyEntity, pipelineNamed } from '../signals/accounts.ts'
import { runPipeline, type PipelineRun } from '../signals/writing/run-pipeline.ts'
import type { Config } from '../config/config.ts'
import { windowOf } from './occurrence-window.ts'

interface WatchOccurrenceOptions {
  ledger: Pick<ScheduleLedger, 'finishOccurrence' | 'setRun'>
  holder: string
  /** Fires when this process ends. */
  signal: AbortSignal
}

/** Between two tries while spending is stopped, the wallet is empty, or the CRM has to be waited for. */
const waitsMs = 900_000

/** A pipeline or a watch of champions that an occurrence runs. Both make checks that are due, one after the other. */
interface Watch {
  budgetUsd: string
  run(
    context: Context,
    options: { budgetAtomic: Atomic; signal: AbortSignal },
  ): Promise<PipelineRun | ChampionRun>
}

/** Returns what an occurrence watches. Undefined: it is of another kind. */
export function watchOf({ signals, champions }: Occurrence): Watch | undefined {
  if (signals)
    return {
      budgetUsd: signals.budgetUsd,
      run: (context, options) => runPipeline(context, signals.pipeline, options),
    }
  if (champions)
    return {
      budgetUsd: champions.budgetUsd,
      run: (context, options) => runChampions(context, champions.watch, options),
    }
  return undefined
}

/**
 * Runs the pipeline or champions of an occurrence: within its budget, until its window ends. The lease of the occurrence holds all the
 * while. A process that dies loses it, and the next one goes on where it was: a check that was made is not due, and an answer is not bought
 * again.
 */
export async function runWatchOccurrence(
  context: Context,
  { ledger, holder, signal }: WatchOccurrenceOptions,
  { id, watch, stopAt }: Occurrence & { watch: Watch },
  lost: AbortSignal,
): Promise<void> {
  const finish = ledger.finishOccurrence.bind(ledger, id, holder)
  const window = windowOf(context, stopAt, [signal, lost])
  const run = await watch.run(context, {
    budgetAtomic: parseUsd(watch.budgetUsd),
    signal: window.signal,
  })
  if (run.records?.runId !== undefined) await ledger.setRun(id, holder, run.records.runId)
  const reason = runText(run)
  const again = (notBefore: Date) => finish({ state: 'due', reason, notBefore })
  if (window.signal.aborted) {
    if (window.hasEnded()) return finish({ state: 'stopped', reason: `its window ended: ${reason}` })
    return lost.aborted ? finish({ state: 'handed_over', reason }) : again(context.now())
  }
  if (run.end === 'failed') return finish({ state: 'failed', reason })
  const inAWhile = new Date(context.now().getTime() + waitsMs)
  // The next planned time, where it comes first, takes the place of one that waits.
  if (run.resumesAt) return again(run.resumesAt)
  const hasWaiting = 'joined' in run && run.joined?.waiting !== undefined
  if (run.end === 'parked' || run.records?.end === 'parked' || hasWaiting) return again(inAWhile)
  await finish({ state: 'handed_over', reason })
}

function runText(run: PipelineRun | ChampionRun): string {
  const { due, checked, left, bought, records, reason } = run
  const made = 'joined' in run ? (run.joined?.made ?? 0) : 0
  const parts = [
    `${checked} of ${due} due checks made`,
    `${counted(bought, 'answer')} bought`,
    ...(records ? [`${counted(records.written, 'record')} written`] : []),
    ...(made > 0 ? [`${made} made at new employers`] : []),
    ...(left > 0 && reason !== undefined ? [reason] : []),
  ]
  return parts.join(', ')
}

/** Returns the object of the people of a watch. Throws ConfigError where the CRM has no such object. */
export async function assertChampions(
  config: Pick<Config, 'champions'>,
  watch: string,
  connectorOf: (name: string) => Promise<Connector>,
): Promise<string> {
  const { connector, entity } = championsNamed(config, watch)
  return personEntity(await connectorOf(connector), entity, `champions.${watch}`)
}

/**
 * Returns what stands for the object of a pipeline's schedule: the companies of its CRM, or the ledger's own for a list. Throws ConfigError
 * where the CRM has no such object.
 */
export async function assertWatched(
  config: Pick<Config, 'signals'>,
  pipeline: string,
  connectorOf: (name: string) => Promise<Connector>,
): Promise<string> {
  const { accounts } = pipelineNamed(config, pipeline)
  if ('list' in accounts) return pipelineEntity
  return companyEntity(await connectorOf(accounts.connector), accounts.entity, `signals.${pipeline}.accounts`)
}
