import type { Config } from '../app/config/config.ts'
import { openConnector } from '../app/context/connectors.ts'
import { createContext, type Context } from '../app/context/context.ts'
import { readRecordName } from '../app/records/history.ts'
import { applyPlan, readPlan, withinPlan } from '../app/runs/apply-plan.ts'
import { enrichRecords } from '../app/runs/enrich-records.ts'
import { makeReady } from '../app/runs/sync.ts'
import { assertWritableOutput } from '../connectors/csv/index.ts'
import { ConfigError } from '../domain/errors.ts'
import type { Plan } from '../store/plans/plans.ts'
import { createEvents, type Events } from './events.ts'
import { enrichFile, openFile, planFile } from './files.ts'
import { closedError, holdContext } from './held-context.ts'
import { assertSyncWork, planObjects, syncObjects } from './syncs.ts'
import type {
  AppliedPlan,
  ApplyPlanOptions,
  EnrichedByIds,
  FileWork,
  Paydirt,
  RecordsWork,
  SyncWork,
  WorkOptions,
} from './types.ts'
import { takeBackRun } from './undo-run.ts'
import { endedEvent, progressEvent, type Work } from './work.ts'

/** The object of the library with what the command line needs beside it. */
export interface OpenedPaydirt extends Paydirt {
  /** Returns a plan that can be carried out, which may be one of a list. */
  readPlan(planId: string): Promise<Plan>
  /** Carries out a plan that was read before. */
  applyPlan(plan: Plan, options?: ApplyPlanOptions): Promise<AppliedPlan>
}

export interface OpenOptions {
  /** Opens the ledger. Default: with the log of the settings. */
  open?: ((config: Config) => Promise<Context>) | undefined
  /** Default: events of its own. */
  events?: Events | undefined
  /** The name in the audit log. */
  actor: { actor: string; role: string }
}

/** Makes the object of the library from resolved settings. Nothing is opened before the first call. */
export function openPaydirt(
  config: Config,
  { open = (settings) => createContext(settings), events = createEvents(), actor }: OpenOptions,
): OpenedPaydirt {
  const held = holdContext(config, open)
  const closing = new AbortController()

  function workOf({ signal, onEvent }: WorkOptions = {}): Work {
    if (closing.signal.aborted) throw closedError()
    return {
      signal: signal ? AbortSignal.any([signal, closing.signal]) : closing.signal,
      emit(event) {
        events.emit(event)
        onEvent?.(event)
      },
    }
  }

  async function withCrm<T>(
    context: Context,
    name: string,
    { isPlan = false }: { isPlan?: boolean },
    use: (connector: Awaited<ReturnType<typeof openConnector>>) => Promise<T>,
  ): Promise<T> {
    const connector = await openConnector(config, name, isPlan ? undefined : await context.openEngine())
    try {
      return await use(connector)
    } finally {
      await connector.close()
    }
  }

  async function plan(job: FileWork | SyncWork, options?: WorkOptions) {
    const work = workOf(options)
    if (isFile(job)) {
      const csv = await openFile(config, job, work)
      return held.inTurn(async (open) => planFile(await open(), csv, job))
    }
    assertSyncWork(job)
    return held.inTurn(async (open) => {
      const context = await open()
      return withCrm(context, job.connector, { isPlan: true }, (crm) => planObjects(context, crm, job, work))
    })
  }

  async function enrich(job: FileWork | RecordsWork, options?: WorkOptions) {
    const work = workOf(options)
    if (!isFile(job)) return enrichByIds(job, work)
    const csv = await openFile(config, job, work)
    return held.inTurn(async (open) => enrichFile(await open(), csv, job, work))
  }

  function enrichByIds({ connector, ...job }: RecordsWork, { signal, emit }: Work): Promise<EnrichedByIds> {
    return held.inTurn(async (open) => {
      const context = await open()
      return withCrm(context, connector, {}, async (crm) => {
        const onNotice = (text: string) => emit({ type: 'notice', text })
        const enriched = await enrichRecords(context, crm, job, { signal, onNotice })
        for (const summary of enriched.summaries) emit(endedEvent({ end: enriched.end, summary }))
        return enriched
      })
    })
  }

  async function applyRead(
    { signal, emit }: Work,
    read: Plan,
    open: (config?: Config) => Promise<Context>,
    { out, force }: ApplyPlanOptions,
  ): Promise<AppliedPlan> {
    if (read.kind === 'list')
      throw new ConfigError(
        'list_plan',
        `plan ${read.id} makes records of a list: \`paydirt apply\` carries it out`,
      )
    if (read.kind === 'csv' && out !== undefined) await assertWritableOutput(String(read.job['path']), out)
    const within = withinPlan(config, read)
    const context = await open(within)
    const applied = await applyPlan(context, read, {
      out,
      force,
      signal,
      onProgress: (progress) => emit(progressEvent(progress)),
      onNotice: (text) => emit({ type: 'notice', text }),
      async openConnector(wanted) {
        const connector = await openConnector(within, wanted, await context.openEngine())
        await makeReady(connector, [read.entity])
        return connector
      },
    })
    emit(endedEvent(applied))
    return applied
  }

  async function close(): Promise<void> {
    closing.abort()
    await held.close().finally(() => events.close())
  }

  return {
    plan: plan as Paydirt['plan'],
    async apply(planId, options = {}) {
      const work = workOf(options)
      return held.inTurn(async (open) => {
        const read = await readPlan(await open(), planId)
        return applyRead(work, read, open, options)
      })
    },
    readPlan: (planId) => held.inTurn(async (open) => readPlan(await open(), planId)),
    async applyPlan(read, options = {}) {
      const work = workOf(options)
      return held.inTurn((open) => applyRead(work, read, open, options))
    },
    enrich: enrich as Paydirt['enrich'],
    async sync(job, options) {
      const work = workOf(options)
      assertSyncWork(job)
      return held.inTurn(async (open) => {
        const context = await open()
        return withCrm(context, job.connector, {}, (crm) => syncObjects(context, crm, job, work))
      })
    },
    runs: ({ limit = 20 } = {}) => held.read('runs', { limit }),
    run: (id) => held.read('run', { id }),
    events: ({ signal } = {}) => events.read(signal),
    async history(record, { run } = {}) {
      const { connector, object, id } = typeof record === 'string' ? readRecordName(record) : record
      const history = await held.read('history', { connector, object, id, run })
      if (history.tasks.length > 0 || history.fields.length > 0) return history
      throw new ConfigError(
        'no_such_record',
        `the ledger has no record ${connector}:${object}:${id}${run === undefined ? '' : ` in run ${run}`}`,
      )
    },
    async undo(runId, { field, plan: isPlan = false, signal } = {}) {
      if (isPlan) return held.read('undoPlan', { run: runId, field })
      const work = workOf({ signal })
      return held.inTurn(async (open) =>
        takeBackRun(await open(), { runId, field, signal: work.signal, actor }),
      )
    },
    spend: ({ by = 'day' } = {}) => held.read('spend', { by }),
    close,
    [Symbol.asyncDispose]: close,
  }
}

function isFile(job: FileWork | SyncWork | RecordsWork): job is FileWork {
  return 'file' in job
}
