import { describeError } from '../domain/errors.ts'
import { keepRuns } from '../store/run-keeper.ts'
import { startRounds, type Rounds } from '../workers/rounds.ts'
import type { Context } from './context.ts'

/** Opens and closes the runs that `paydirt start` works on, again and again; see store/run-keeper.ts for the rules. */
export function startRunKeeper(
  context: Pick<Context, 'database' | 'log' | 'now'>,
  options: { everyMs?: number } = {},
): Rounds {
  const { log } = context
  return startRounds({
    async work() {
      for (const { id, connector, entity, from, to } of await keepRuns(context.database.db, context.now()))
        log.info({ run: id, connector, entity, from, to }, 'a run went on to its next state')
    },
    pauseMs: options.everyMs ?? 2_000,
    onError: (error) => log.warn({ problem: describeError(error) }, 'the keeping of runs failed this time'),
  })
}
