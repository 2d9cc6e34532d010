import type { ConfigError } from '../../domain/errors.ts'
import { describeError } from '../../domain/errors.ts'
import { gatheringOf } from '../../store/database/gathering.ts'
import { giveWayUntil } from '../../store/database/go-first.ts'
import type { LeaseOwner } from '../../store/ledger/lookup-leases.ts'
import { createAdvance, type Advance } from '../../planning/advance.ts'
import { gatherAdvance } from '../../planning/gather-advance.ts'
import { startEnqueuer } from '../../workers/lookup/enqueuer.ts'
import { pause } from '../../timing/pause.ts'
import { createWake, type Wake } from '../../timing/wake.ts'
import { startSweep } from '../../workers/sweep.ts'
import { createWriteBack } from '../../workers/write/write-back.ts'
import { withLogFields } from '../../timing/log-scope.ts'
import type { Context } from '../context/context.ts'
import type { Engine } from '../context/engine.ts'
import { takeFirstCount } from '../money/account-count.ts'
import { ruleOf } from '../config/policies.ts'
import { createRecordForms } from '../context/record-form.ts'
import { moduleLog } from '../context/log.ts'
import { createLookUps } from './look-ups.ts'
import { workPresses } from './press-lane.ts'

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
  const { config, lookups, tasks, log, now } = context
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
  const pressReady = createWake()
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
  // Presses are looked up by the processes that take them too.
  const stopListening = hearOfPresses(engine, pressReady, () => enqueuer.wake())
  const lookUps = createLookUps(context, engine, { onHalt, onError })
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
  const workers = [
    queues.workLookups('background', config.concurrency, lookUps.background(backgroundAdvance)),
    queues.workWriteBack((job) =>
      withLogFields({ connector: job.connector, entity: job.entity }, () => writeBack(job)),
    ),
  ]
  const presses = workPresses(context, engine, {
    lookUp: lookUps.hot(),
    // A run that a command carries out looks up for itself.
    mayLeave: 'connectors' in owner,
    onError,
  })
  const sweep = startSweep({ tasks, advance, flush: flushSoon, everyMs: 3_000, onError })

  /** All at once: a statement of the sweep may take seconds, and the workers would buy meanwhile. */
  async function stopAll(graceMs: number): Promise<void> {
    const loops = [sweep, enqueuer].map((loop) => loop.stop())
    stopListening()
    await Promise.all([...loops, ...workers.map((worker) => worker.close(graceMs)), presses.stop(graceMs)])
    isOver = true
    for (const timer of [...flushes.values(), ...gathering.values()]) clearTimeout(timer)
  }

  return {
    advance,
    wake: () => enqueuer.wake(),
    stop: (graceMs) => (stopping ??= stopAll(graceMs)),
  }
}

/** A press that another process works is given way to for so long, where nothing is heard of its end. */
const elsewhereMs = 600

/** Returns the function that ends it. */
function hearOfPresses({ pressSignals }: Engine, pressReady: Wake, onWanted: () => void): () => void {
  const elsewhere = new Map<string, AbortController>()
  return pressSignals.listen((word, name, isOwn) => {
    if (word === 'ready') pressReady.wake(name)
    else if (word === 'wanted') onWanted()
    else if (word === 'ended') elsewhere.get(name)?.abort()
    else if (!isOwn) {
      const over = new AbortController()
      elsewhere.set(name, over)
      void giveWayUntil(pause(elsewhereMs, over.signal)).then(() => {
        if (elsewhere.get(name) === over) elsewhere.delete(name)
      })
    }
  })
}
