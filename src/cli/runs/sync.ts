import { openConnector } from '../../app/context/connectors.ts'
import { newPlanId } from '../../app/context/new-id.ts'
import type { CrmName } from '../../connectors/definitions.ts'
import { planText, type RunPlan } from '../../app/plans/plan-text.ts'
import type { RunEnd } from '../../app/runs/run-to-end.ts'
import type { RunSummary } from '../../app/runs/summary.ts'
import { entitiesOf } from '../../app/context/entities.ts'
import { makeReady, planSync, syncEntity } from '../../app/runs/sync.ts'
import type { ScanFilter } from '../../connectors/connector.ts'
import { ConfigError } from '../../domain/errors.ts'
import { exitStatus } from '../terminal/exit.ts'
import { summaryText } from '../terminal/print-summary.ts'
import { createProgressView } from '../terminal/progress.ts'
import { stopSignal, withContext } from '../terminal/with-context.ts'
import { print, printError } from '../terminal/print.ts'

interface Options {
  object?: string
  recipe?: string
  since?: Date
  limit?: number
  filter: ScanFilter[]
  refresh?: true
  plan?: true
  json?: true
}

export async function syncCrm(name: CrmName, options: Options): Promise<void> {
  if (options.refresh && (options.since || options.filter.length > 0)) {
    throw new ConfigError(
      'bad_options',
      '--refresh reads records from the ledger: it cannot be combined with --since or --filter',
    )
  }
  const signal = stopSignal()
  await withContext(async (context) => {
    const engine = options.plan ? undefined : await context.openEngine()
    const connector = await openConnector(context.config, name, engine)
    try {
      const entities = entitiesOf(connector, options.object)
      const { recipe, since, refresh, limit, filter: conditions } = options
      const plans: RunPlan[] = []
      const ends: { end: RunEnd; summary: RunSummary }[] = []
      const unready: { entity: string; error: ConfigError }[] = []
      for (const entity of entities) {
        const job = { entity, filter: conditions, recipe, since, limit, refresh }
        try {
          if (options.plan) {
            const plan = await planSync(context, connector, job, signal, newPlanId(context))
            plans.push(plan)
            if (!options.json) print(`${entity}: ${planText(plan)}`)
            continue
          }
          await makeReady(connector, [entity])
        } catch (error) {
          // An object that is not ready does not stop the others.
          if (!(error instanceof ConfigError)) throw error
          unready.push({ entity, error })
          continue
        }
        const view = createProgressView({
          total: undefined,
          nowMs: () => performance.now(),
        })
        const result = await syncEntity(context, connector, job, {
          signal,
          onProgress: (progress) => view.show(progress),
          onNotice: (text) => printError(`paydirt: ${text}\n`),
          onResumed: (resumed) =>
            printError(`paydirt: continuing run ${resumed.id}, started ${resumed.startedAt.toISOString()}\n`),
        }).finally(() => view.end())
        ends.push(result)
        if (!options.json) print(summaryText(result.summary, result.end, undefined))
        if (result.end === 'interrupted') break
      }
      if (unready[0] && unready.length === entities.length) throw unready[0].error
      const documents = options.plan ? plans : ends.map(({ summary }) => summary)
      if (options.json) print(`${JSON.stringify(documents.length === 1 ? documents[0] : documents)}\n`)
      process.exitCode = worst(ends.map(({ end }) => end))
      for (const { entity, error } of unready) printError(`paydirt: ${entity} left out: ${error.message}\n`)
      if (unready.length > 0 && process.exitCode !== exitStatus.interrupted)
        process.exitCode = exitStatus.usage
    } finally {
      await connector.close()
    }
  })
}

function worst(ends: RunEnd[]): number {
  if (ends.includes('interrupted')) return exitStatus.interrupted
  return ends.includes('parked') ? exitStatus.parked : exitStatus.done
}
