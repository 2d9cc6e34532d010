import type { ConfigError } from '../../domain/errors.ts'
import { describeError } from '../../domain/errors.ts'
import { gatheringOf } from '../../store/database/gathering.ts'
import { goFirst } from '../../store/database/go-first.ts'
import type { LeaseOwner } from '../../store/ledger/lookup-leases.ts'
import { createAdvance, type Advance } from '../../planning/advance.ts'
import { gatherAdvance } from '../../planning/gather-advance.ts'
import { createAccessWatch } from '../../workers/lookup/access-watch.ts'
import { startEnqueuer } from '../../workers/lookup/enqueuer.ts'
import { createWake } from '../../timing/wake.ts'
import { createLookUp } from '../../workers/lookup/look-up.ts'
import { startSweep } from '../../workers/sweep.ts'
import { createWriteBack, writeGroup } from '../../workers/write/write-back.ts'
import type { LookupKey } from '../../domain/keys.ts'
import type { Lane } from '../../domain/ports/send-permit.ts'
import { lookupJobId } from '../../queues/jobs.ts'
import { withLogFields } from '../../timing/log-scope.ts'
import type { Context } from '../context/context.ts'
import { takeFirstCount } from '../money/account-count.ts'
import { ruleOf } from '../config/policies.ts'
import { createRecordForms } from '../context/record-form.ts'
import { moduleLog } from '../context/log.ts'

export interface WorkerRuntime {
  advance: Advance
  /** Enqueues new lookups at once, without waiting for the next poll. */
  wake(): void
  /**
   * Takes no new work from this call on, and gives active work this long to end. Unfinished work is continued from the ledger at
   * the next start. Called again, it waits for the first call.
   */
  stop(graceMs: number): Promise<void>
}

export interface WorkerRuntimeOptions {
  owner: LeaseOwner
  /** Called for an error that a person must fix. */
  onHalt: (error: ConfigError) => void
  /** Called when a source refuses requests for so long. */
  onLongWait?: ((ms: number, reason: string) => void) | undefined
}

/** Starts the enqueuer, the lookup workers of both lanes, write-back and the sweep. */
export async function startWorkerRuntime(
  context: Context,
  { owner, onHalt, onLongWait }: WorkerRuntimeOptions,
): Promise<WorkerRuntime> {
  const { config, lookups, tasks, runs, log, now } = context
  const engine = await context.openEngine()
  await takeFirstCount(context, engine)
  const { queues } = engine
  const workLog = moduleLog(log, 'workers')
  const onError = (error: unknown) =>
    workLog.warn({ problem: describeError(error) }, 'a worker met an error and continues')

  let stopping: Promise<void> | undefined
  let isOver = false
  const flushes = new Map<string, NodeJS.Timeout>()
  /** Records that become ready within a moment are written in one batch. */
  function flushSoon(group: { connector: string; entity: string }): void {
    const id = `${group.connector}/${group.entity}`
    if (isOver || flushes.has(id)) return
    const timer = setTimeout(() => {
      flushes.delete(id)
      flushNow(group)
    }, 200)
    flushes.set(id, timer)
  }
  const gathering = new Map<string, NodeJS.Timeout>()
  /** Looks again at records that wait for others. A process that dies before leaves them to the sweep. */
  function flushAfter(group: { connector: string; entity: string }, ms: number): void {
    const id = `${group.connector}/${group.entity}`
    if (isOver || gathering.has(id)) return
    const timer = setTimeout(() => {
      gathering.delete(id)
      flushNow(group)
    }, ms)
    gathering.set(id, timer)
  }
  function flushNow(group: { connector: string; entity: string }): void {
    queues.addWriteBack(group).catch(onError)
  }

  const planning = { ...context.planning, onWanted: () => enqueuer.wake() }
  const advance = createAdvance({ ...planning, onReady: flushSoon })
  // On-demand tasks are advanced at once, each by itself; background tasks of one moment are advanced together.
  const pressReady = createWake()
  const hotAdvance = createAdvance({
    ...planning,
    onReady(group) {
      pressReady.wake(writeGroup(group))
      queues.addWriteBack(group, { isPress: true }).catch(onError)
    },
  })
  const backgroundAdvance: Advance = {
    ...advance,
    advanceTasksWaitingFor: gatherAdvance(advance, gatheringOf(context.database.db)),
  }
  const enqueuer = startEnqueuer({
    lookups,
    queues,
    owner,
    highWater: 1_000,
    leaseMs: 60_000,
    batch: engine.batch,
    now,
    idleMs: 500,
    onError,
  })
  const lookUpOptions = {
    lookups,
    runs,
    suppressed: context.suppressions.match,
    payer: engine.payer,
    batches: engine.batches,
    prepare: engine.prepare,
    prepareBulk: engine.prepareBulk,
    pollAnswer: engine.pollAnswer,
    fetchFree: engine.fetchFree,
    freshUntil: engine.freshUntil,
    access: createAccessWatch({ now }),
    probation: engine.probation,
    prices: config.prices,
    now,
    random: Math.random,
    onHalt,
    onUnexpected: (failure: object) => workLog.warn(failure, 'a lookup met an error that was not expected'),
  }
  const lookUp = createLookUp({ ...lookUpOptions, advance: backgroundAdvance })
  const lookUpHot = createLookUp({ ...lookUpOptions, advance: hotAdvance })
  const writeBack = createWriteBack({
    tasks,
    fieldWrites: context.fieldWrites,
    rule: (connector, field, trigger) => ruleOf(config.policies, connector, field, trigger),
    formOf: createRecordForms(config),
    networkHosts: config.networkHosts,
    suppressed: context.suppressions.match,
    connector: (name) => context.connectors.get(name),
    batchSize: 2_000,
    gatherMs: context.gatherMs,
    now,
    pressReady,
    onGathering: flushAfter,
    onHalt,
    onLongWait: (ms, reason) => onLongWait?.(ms, reason),
    onEnded(connector, outcomes) {
      for (const { status } of outcomes) engine.meter.written(connector, status)
    },
    onBatch: (batch) => workLog.debug(batch, 'records were written'),
    onUnexpected: (failure) => workLog.warn(failure, 'writing met an error that was not expected'),
  })
  /** Every line that is written while a lookup is worked names its run and the digest of its key. */
  function worked(work: typeof lookUp, lane: Lane) {
    return (key: LookupKey, starts: number) =>
      withLogFields({ lookup: lookupJobId(key) }, async () => {
        const startedMs = performance.now()
        const outcome = await work(lane, key, starts)
        workLog.debug(
          {
            lane,
            starts,
            againInMs: outcome ? outcome.againInMs : undefined,
            ms: Math.round(performance.now() - startedMs),
          },
          'a lookup was worked',
        )
        return outcome
      })
  }
  const workers = [
    queues.workLookups('background', config.concurrency, worked(lookUp, 'background')),
    // As many as in the background: with few of them in flight, the background would take the tokens that they leave.
    queues.workLookups(
      'hot',
      Math.max(8, config.concurrency),
      worked((...lookup) => goFirst(() => lookUpHot(...lookup)), 'hot'),
    ),
    queues.workWriteBack((job) =>
      withLogFields({ connector: job.connector, entity: job.entity }, () => writeBack(job)),
    ),
  ]
  const sweep = startSweep({ tasks, advance, flush: flushSoon, everyMs: 3_000, onError })

  /** All at once: a statement of the sweep may take seconds, and the workers would buy meanwhile. */
  async function stopAll(graceMs: number): Promise<void> {
    const loops = [sweep, enqueuer].map((loop) => loop.stop())
    await Promise.all([...loops, ...workers.map((worker) => worker.close(graceMs))])
    isOver = true
    for (const timer of [...flushes.values(), ...gathering.values()]) clearTimeout(timer)
  }

  return {
    advance,
    wake: () => enqueuer.wake(),
    stop: (graceMs) => (stopping ??= stopAll(graceMs)),
  }
}
