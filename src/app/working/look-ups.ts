import type { ConfigError } from '../../domain/errors.ts'
import type { LookupKey } from '../../domain/keys.ts'
import type { Lane } from '../../domain/ports/send-permit.ts'
import { createAdvance, type Advance } from '../../planning/advance.ts'
import { lookupJobId } from '../../queues/jobs.ts'
import type { Outcome } from '../../queues/working.ts'
import { goFirst } from '../../store/database/go-first.ts'
import { withLogFields } from '../../timing/log-scope.ts'
import { createAccessWatch, type AccessWatchOptions } from '../../workers/lookup/access-watch.ts'
import { createLookUp } from '../../workers/lookup/look-up.ts'
import { writeGroup } from '../../workers/write/write-back.ts'
import type { Context } from '../context/context.ts'
import type { Engine } from '../context/engine.ts'
import { moduleLog } from '../context/log.ts'

/** Performs one lookup; `starts` counts how often that was begun, this time included. */
export type LookUpOne = (key: LookupKey, starts: number) => Promise<Outcome>

/** Makes the functions that look up in one process. Those of one call know the same of access. */
export function createLookUps(
  context: Context,
  engine: Engine,
  {
    onHalt,
    onError,
    lastAnswer,
  }: {
    onHalt: (error: ConfigError) => void
    onError: (error: unknown) => void
    /** Set where few lookups are worked, and the answers to others are known to the ledger alone. */
    lastAnswer?: AccessWatchOptions['lastAnswer']
  },
) {
  const { config, lookups, runs, log, now, suppressions } = context
  const workLog = moduleLog(log, 'workers')
  const { payer, batches, prepare, prepareBulk, pollAnswer, fetchFree, freshUntil, probation } = engine
  const access = createAccessWatch({ now, lastAnswer })

  function lookUpIn(lane: Lane, advance: Advance): LookUpOne {
    const lookUp = createLookUp({
      lookups,
      runs,
      suppressed: suppressions.match,
      payer,
      batches,
      prepare,
      prepareBulk,
      pollAnswer,
      fetchFree,
      freshUntil,
      access,
      probation,
      prices: config.prices,
      now,
      random: Math.random,
      advance,
      onHalt,
      onUnexpected: (failure) => workLog.warn(failure, 'a lookup met an error that was not expected'),
    })
    // Every line that is written while a lookup is worked names its run and the digest of its key.
    return (key, starts) =>
      withLogFields({ lookup: lookupJobId(key) }, async () => {
        const startedMs = performance.now()
        const outcome = await lookUp(lane, key, starts)
        const ms = Math.round(performance.now() - startedMs)
        workLog.debug(
          { lane, starts, againInMs: outcome ? outcome.againInMs : undefined, ms },
          'a lookup was worked',
        )
        return outcome
      })
  }

  return {
    background: (advance: Advance) => lookUpIn('background', advance),

    /** Presses are advanced at once, each by itself, and whoever writes them is told, in whatever process. */
    hot(): LookUpOne {
      const { queues, pressSignals } = engine
      const lookUp = lookUpIn(
        'hot',
        createAdvance({
          ...context.planning,
          onWanted: () => pressSignals.tell('wanted', ''),
          onReady(group) {
            pressSignals.tell('ready', writeGroup(group))
            queues.addWriteBack(group, { isPress: true }).catch(onError)
          },
        }),
      )
      return (key, starts) =>
        goFirst(async () => {
          const name = lookupJobId(key)
          pressSignals.tell('begun', name)
          try {
            return await lookUp(key, starts)
          } finally {
            pressSignals.tell('ended', name)
          }
        })
    },
  }
}
