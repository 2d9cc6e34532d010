import { ConfigError } from '../../domain/errors.ts'
import { resumeRun, stopRun, type RunResumed } from '../../store/runs/run-stops.ts'
import { configuredCrms } from '../context/connectors.ts'
import type { Context } from '../context/context.ts'

type RunContext = Pick<Context, 'config' | 'database' | 'now' | 'runs'>

/** Stops one run until a person resumes it. Throws ConfigError for a run that does not exist or has ended. */
export async function stopOneRun(
  context: RunContext,
  id: string,
  order: { by: string; reason: string },
): Promise<void> {
  const run = await existing(context, id)
  if (await stopRun(context.database.db, id, { ...order, now: context.now() })) return
  throw new ConfigError('run_ended', `run ${id} is ${run.state}: there is nothing to stop`)
}

/** Resumes a run that was stopped. Throws ConfigError for a run that does not exist or is not stopped. */
export async function resumeOneRun(context: RunContext, id: string): Promise<RunResumed> {
  const run = await existing(context, id)
  const background = configuredCrms(context.config)
  const resumed = await resumeRun(context.database.db, id, { now: context.now(), background })
  if (resumed) return resumed
  throw new ConfigError('run_not_stopped', `run ${id} is ${run.state}: there is nothing to resume`)
}

async function existing({ runs }: RunContext, id: string) {
  const run = await runs.get(id)
  if (run && run.state !== 'planned') return run
  throw new ConfigError('no_such_run', `there is no run ${id}; \`paydirt runs\` lists them`)
}
