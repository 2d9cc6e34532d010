import type { Connector } from '../../connectors/connector.ts'
import { ConfigError, describeError } from '../../domain/errors.ts'
import type { UndoJob, UndoPort, UndoView } from '../../http/desk/model/run-undo.ts'
import { createNoteJournal } from '../../store/notes/note-journal.ts'
import { openConnector } from '../context/connectors.ts'
import type { Context } from '../context/context.ts'
import { undoableRun, undoRun } from '../records/undo.ts'
import { makesRecords } from '../records/undo-made.ts'
import { moduleLog } from '../context/log.ts'

/** A page does not wait longer for a plan: it shows what was read until then. */
const longestPlanMs = 15_000
/** So many ended undos are remembered for their pages. */
const mostJobs = 50

export interface DeskUndo extends UndoPort {
  /** Resolves when no undo is at work any more. */
  idle(): Promise<void>
}

/**
 * Undoes runs from the desk, as `paydirt undo` does from the command line. Crash window: a process that ends in the middle
 * leaves the rest of the fields as they are; the ledger knows which were restored, and the next undo, from here or from
 * there, continues. Two undos of one run at once restore the same values.
 */
export function createDeskUndo(context: Context, signal: AbortSignal): DeskUndo {
  const jobs = new Map<string, UndoJob>()
  const atWork = new Set<Promise<void>>()

  async function undo(runId: string, options: { plan: boolean; signal: AbortSignal }): Promise<UndoView> {
    const run = await undoableRun(context, runId)
    if (!run)
      throw new ConfigError(
        'nothing_to_undo',
        'nothing was written into its source: there is nothing to undo',
      )
    if (makesRecords(run))
      throw new ConfigError(
        'not_here',
        `the run has made records: \`paydirt undo ${runId} --plan\` says which of them can be taken back, and \`paydirt undo ${runId}\` archives them`,
      )
    if ((await createNoteJournal(context.database.db, context).countOfRun(runId)) > 0)
      throw new ConfigError(
        'not_here',
        `the run has written notes or tasks: \`paydirt undo ${runId} --plan\` says which of them can be taken back, and \`paydirt undo ${runId}\` takes them and its fields back`,
      )
    const engine = await context.openEngine()
    return withConnector(context, run.connector, engine, (connector) =>
      undoRun(context, connector, run, options),
    )
  }

  async function carryOut(
    runId: string,
    job: UndoJob,
    onEnd: (figures: Record<string, number | string>) => Promise<void>,
  ): Promise<void> {
    try {
      const done = await undo(runId, { plan: false, signal })
      job.ended = { done }
      const { restored, already, left, unfinished } = done
      await onEnd({ restored, already, left, ...(unfinished === undefined ? {} : { unfinished }) })
    } catch (error) {
      job.ended ??= { problem: describeError(error) }
      moduleLog(context.log, 'web').warn(
        { run: runId, problem: describeError(error) },
        'an undo from the desk has failed',
      )
    }
  }

  return {
    plan: (runId) =>
      undo(runId, { plan: true, signal: AbortSignal.any([signal, AbortSignal.timeout(longestPlanMs)]) }),

    start(runId, by, onEnd) {
      if (jobs.has(runId) && jobs.get(runId)?.ended === undefined) return false
      const job: UndoJob = { by, startedAt: context.now(), ended: undefined }
      jobs.delete(runId)
      jobs.set(runId, job)
      for (const [id, { ended }] of jobs) if (jobs.size > mostJobs && ended) jobs.delete(id)
      const work = carryOut(runId, job, onEnd).finally(() => atWork.delete(work))
      atWork.add(work)
      return true
    },

    job: (runId) => jobs.get(runId),

    async idle() {
      await Promise.all(atWork)
    },
  }
}

async function withConnector<T>(
  { connectors, config }: Context,
  name: string,
  engine: Parameters<typeof openConnector>[2],
  work: (connector: Connector) => Promise<T>,
): Promise<T> {
  const shared = connectors.get(name)
  if (shared) return work(shared)
  const own = await openConnector(config, name, engine)
  try {
    return await work(own)
  } finally {
    await own.close()
  }
}
