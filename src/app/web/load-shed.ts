import { describeError } from '../../domain/errors.ts'
import { Problem } from '../../http/server/problem.ts'
import { pingDatabase } from '../../store/database/database.ts'
import { oldestPress } from '../../store/views/metrics.ts'
import { createLoadShed, type ShedReason } from '../../timing/load-shed.ts'
import { startPollLoop } from '../../timing/poll-loop.ts'
import type { Context } from '../context/context.ts'
import type { Engine } from '../context/engine.ts'
import { moduleLog } from '../context/log.ts'

const texts: Record<ShedReason, string> = {
  database: 'the database is slow',
  redis: 'Redis is slow',
  presses: 'people wait for their records',
}

export interface OpenLoadShed {
  /** Throws a 503 problem while background work is refused. Reads nothing and stores nothing. */
  admitBackground(): void
  stop(): Promise<void>
}

/** Measures the stores once a second in the web role. */
export function openLoadShed(
  context: Context,
  { redis }: Pick<Engine, 'redis'>,
  onShed: (reason: ShedReason) => void,
): OpenLoadShed {
  const { config, now } = context
  const { db } = context.database
  const log = moduleLog(context.log, 'web')
  const shed = createLoadShed({
    bounds: config.http.shed,
    probes: {
      database: async () => void (await pingDatabase(db)),
      redis: async () => void (await redis.redis.ping()),
      async presses() {
        const since = await oldestPress(db)
        return since ? now().getTime() - since.getTime() : 0
      },
    },
    holdMs: config.http.shed.hold,
    nowMs: () => performance.now(),
    onChange: ({ reason, isShedding, ms }) =>
      log.warn(
        { reason, ms },
        isShedding ? 'background requests are refused for now' : 'background requests are taken again',
      ),
  })
  const loop = startPollLoop({
    name: 'measure the load',
    // A probe that hangs is seen by its age, and must not keep the loop from its next round.
    work: async () => void shed.measure(),
    pauseMs: 1_000,
    onError: (error) => log.warn({ problem: describeError(error) }, 'the load could not be measured'),
  })
  return {
    admitBackground() {
      const reason = shed.reason()
      if (reason === undefined) return
      onShed(reason)
      throw new Problem(
        503,
        'overloaded',
        `${texts[reason]}: nothing was stored or bought; send the same request again after the time in Retry-After, or with \`wait\` when a person waits for it`,
        { headers: { 'retry-after': String(config.http.shed.hold / 1_000 + 5) } },
      )
    },
    stop: () => loop.stop(),
  }
}
