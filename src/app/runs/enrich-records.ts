import { setTimeout } from 'node:timers/promises'
import type { Connector } from '../../connectors/connector.ts'
import { ConfigError } from '../../domain/errors.ts'
import type { ObjectKind } from '../../domain/words.ts'
import { createTaskIds } from '../../http/tasks/task-ids.ts'
import { taskJson, type TaskJson } from '../../http/tasks/task-json.ts'
import type { OnDemandTask } from '../../store/runs/on-demand-tasks.ts'
import { ledgerId } from '../../store/database/meta.ts'
import type { Run } from '../../store/runs/runs.ts'
import { createTaskViews } from '../../store/runs/task-view.ts'
import { prepareStart } from './preflight.ts'
import { openOnDemand } from './on-demand.ts'
import type { Context } from '../context/context.ts'
import { runToEnd, worstEnd, type RunEnd } from './run-to-end.ts'
import { summarise, type RunSummary } from './summary.ts'
import { entitiesOf } from '../context/entities.ts'

export interface RecordsJob {
  /** An object, or the CRM's own name for one. */
  object: string
  ids: readonly string[]
  recipe?: string | undefined
}

export interface EnrichedRecords {
  end: RunEnd
  /** One summary, or more when other requests of the last minute asked for some of the records. */
  summaries: RunSummary[]
  results: TaskJson[]
}

const mostTries = 5

/**
 * Enriches records by their ids in this process. Makes the same tasks as other on-demand requests, so that a task that was
 * requested within the last minute is continued and not made again. Throws ConfigError for an unknown object or recipe.
 */
export async function enrichRecords(
  context: Context,
  connector: Connector,
  job: RecordsJob,
  { signal, onNotice }: { signal: AbortSignal; onNotice?: ((text: string) => void) | undefined },
): Promise<EnrichedRecords> {
  const { config, database } = context
  const entities = entitiesOf(connector, job.object)
  const [entity] = entities
  if (entity === undefined || entities.length > 1)
    throw new ConfigError('which_object', `${job.object}: say which of ${entities.join(', ')}`)
  const object = connector.entities[entity] as ObjectKind
  const asked = {
    connector: connector.name,
    object,
    entity,
    recipe: config.recipes(object, job.recipe ?? config.defaultRecipe).name,
    source: { caller: 'command line', entity, records: job.ids.length },
  }
  const prepared = await prepareStart(context, connector, asked, onNotice)
  context.connectors.set(connector.name, connector)
  const errors: unknown[] = []
  // No worker runs yet. The sweep of the worker runtime that starts below finds the tasks that are ready at once.
  const onDemand = openOnDemand(context, { onReady: () => {}, onError: (error) => errors.push(error) })
  const requested = await onDemand.request({ ...asked, ids: job.ids, trigger: 'button' })
  await onDemand.idle()
  const ends: RunEnd[] = []
  const summaries: RunSummary[] = []
  for (const run of await runsOf(context, requested)) {
    if (run.state !== 'finished') {
      context.connectors.set(connector.name, connector)
      await beginTasks(run)
      // Continues an interrupted run: nothing is bought for a run in the state `stopped`.
      await context.runs.setState(run.id, 'working')
      ends.push(await runToEnd(context, { prepared, run, connector, signal, onNotice }))
    }
    summaries.push(await summarise(context, run))
    if (signal.aborted) break
  }
  return { end: worstEnd(ends), summaries, results: await resultsOf(requested) }

  /** Retries while the CRM cannot be reached. Throws an error that a person must fix. */
  async function beginTasks(run: Run): Promise<void> {
    for (let tries = 1; (await context.tasks.counts(run.id)).queued > 0; tries += 1) {
      const error = errors.at(-1)
      if (error instanceof ConfigError || (error !== undefined && tries >= mostTries)) {
        await context.runs.setState(run.id, 'stopped')
        throw error
      }
      if (tries > 1) await setTimeout(500 * 2 ** tries, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      await onDemand.begin(run.id)
    }
  }

  async function resultsOf(tasks: readonly OnDemandTask[]): Promise<TaskJson[]> {
    const ids = createTaskIds(await ledgerId(database.db, context.randomBytes))
    const views = await createTaskViews(database.db).get(tasks.map(({ taskId }) => taskId))
    const byId = new Map(views.map((view) => [view.id, view]))
    return tasks.flatMap(({ taskId }) => {
      const view = byId.get(taskId)
      return view ? [taskJson(view, ids)] : []
    })
  }
}

async function runsOf({ runs }: Context, requested: readonly OnDemandTask[]): Promise<Run[]> {
  const found: Run[] = []
  for (const id of new Set(requested.map(({ runId }) => runId))) {
    const run = await runs.get(id)
    if (run) found.push(run)
  }
  return found
}
