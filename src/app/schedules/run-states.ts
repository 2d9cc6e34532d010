import { connectorsWithout } from '../../connectors/definitions.ts'
import { describeError } from '../../domain/errors.ts'
import { adoptOrphans, updateRunStates } from '../../store/runs/run-states.ts'
import { startPollLoop, type PollLoop } from '../../timing/poll-loop.ts'
import type { Context } from '../context/context.ts'

/** Rarely needed, and it looks at every lookup that a broken-off command has left behind. */
const adoptEveryMs = 30_000

/** Opens and closes the runs that `paydirt start` works on, again and again; the rules are in src/store/runs/run-states.ts. */
export function startRunStates(
  context: Pick<Context, 'database' | 'log' | 'now'>,
  options: { everyMs?: number } = {},
): PollLoop {
  const { log, now } = context
  const foreground = connectorsWithout('runsInBackground')
  let adoptAgainMs = 0
  return startPollLoop({
    async work() {
      if (now().getTime() >= adoptAgainMs) {
        adoptAgainMs = now().getTime() + adoptEveryMs
        await adoptOrphans(context.database.db, now(), foreground)
      }
      for (const { id, connector, entity, from, to } of await updateRunStates(
        context.database.db,
        context.now(),
        foreground,
      ))
        log.info({ run: id, connector, entity, from, to }, 'a run went on to its next state')
    },
    pauseMs: options.everyMs ?? 2_000,
    onError: (error) => log.warn({ problem: describeError(error) }, 'the keeping of runs failed this time'),
  })
}
