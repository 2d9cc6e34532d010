import { describeError } from '../../domain/errors.ts'
import { adoptOrphans, updateRunStates } from '../../store/runs/run-states.ts'
import { startPollLoop, type PollLoop } from '../../timing/poll-loop.ts'
import type { Context } from '../context/context.ts'

/** Rare, and it looks at every lookup that a CSV has left behind. */
const adoptEveryMs = 30_000

/** Opens and closes the runs that `paydirt start` works on, again and again; see store/run-keeper.ts for the rules. */
export function startRunStates(
  context: Pick<Context, 'database' | 'log' | 'now'>,
  options: { everyMs?: number } = {},
): PollLoop {
  const { log, now } = context
  let adoptAgainMs = 0
  return startPollLoop({
    async work() {
      if (now().getTime() >= adoptAgainMs) {
        adoptAgainMs = now().getTime() + adoptEveryMs
        await adoptOrphans(context.database.db, now())
      }
      for (const { id, connector, entity, from, to } of await updateRunStates(
        context.database.db,
        context.now(),
      ))
        log.info({ run: id, connector, entity, from, to }, 'a run went on to its next state')
    },
    pauseMs: options.everyMs ?? 2_000,
    onError: (error) => log.warn({ problem: describeError(error) }, 'the keeping of runs failed this time'),
  })
}
