import { describeError } from '../../domain/errors.ts'
import type { DeskJob, OnJobEnd } from '../../http/desk/model/desk-job.ts'
import type { Context } from '../context/context.ts'
import { moduleLog } from '../context/log.ts'

/** So many ended actions are remembered for their pages. */
const mostJobs = 50

export interface JobResult {
  text: string
  isDone: boolean
  runId?: string
  figures: Record<string, number | string>
}

type NewJob<J extends DeskJob> = Omit<J, 'startedAt' | 'progress' | 'ended'>

export interface DeskJobs<J extends DeskJob> {
  /** Starts the work and returns at once. Returns false while a job of this name is at work here. */
  start(name: string, job: NewJob<J>, work: (job: J) => Promise<JobResult>, onEnd: OnJobEnd): boolean
  /** Returns the last job of a name that was started in this process. */
  of(name: string): J | undefined
  /** Resolves when no job is at work any more. */
  idle(): Promise<void>
}

/** Carries out actions that were started on the desk, one at a time for each name. They are forgotten when the process ends. */
export function createDeskJobs<J extends DeskJob>(
  { now, log }: Pick<Context, 'now' | 'log'>,
  { place, onChange }: { place: string; onChange?: (() => void) | undefined },
): DeskJobs<J> {
  const jobs = new Map<string, J>()
  const atWork = new Set<Promise<void>>()

  async function carryOut(
    name: string,
    job: J,
    work: (job: J) => Promise<JobResult>,
    onEnd: OnJobEnd,
  ): Promise<void> {
    try {
      const { figures, ...ended } = await work(job)
      job.ended = ended
      await onEnd(figures)
    } catch (error) {
      job.ended ??= { text: describeError(error), isDone: false }
      moduleLog(log, 'web').warn(
        { place, name, problem: describeError(error) },
        'an action that was started on the desk failed',
      )
    } finally {
      onChange?.()
    }
  }

  return {
    start(name, given, work, onEnd) {
      const last = jobs.get(name)
      if (last && last.ended === undefined) return false
      const job = { ...given, startedAt: now(), progress: '', ended: undefined } as unknown as J
      jobs.delete(name)
      jobs.set(name, job)
      for (const [other, { ended }] of jobs) if (jobs.size > mostJobs && ended) jobs.delete(other)
      const done = carryOut(name, job, work, onEnd).finally(() => atWork.delete(done))
      atWork.add(done)
      return true
    },

    of: (name) => jobs.get(name),

    async idle() {
      await Promise.all(atWork)
    },
  }
}
