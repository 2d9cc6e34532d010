import { describeError } from '../../domain/errors.ts'
import type { QueueWorker } from '../../queues/working.ts'
import { lastAnswered } from '../../store/contract/last-answered.ts'
import { pause } from '../../timing/pause.ts'
import { startPollLoop } from '../../timing/poll-loop.ts'
import type { Config } from '../config/config.ts'
import { assertReachable } from '../context/assert-reachable.ts'
import type { Context } from '../context/context.ts'
import type { Engine } from '../context/engine.ts'
import { moduleLog } from '../context/log.ts'
import { takeFirstCount } from '../money/account-count.ts'
import { createLookUps, type LookUpOne } from './look-ups.ts'

/** The hot lane, as one process works it. */
export interface PressLane {
  /** Takes no press from this call on, and gives those under way this long to end. */
  stop(graceMs: number): Promise<void>
}

const everyMs = 2_000
/** A claim is said again long before it ends, and ends soon after its process. */
const claimedMs = 6_000
/** A web process may have no way to the service, or lose it: then workers look up its presses. */
const reachableMs = 30_000

/**
 * Looks up presses in a process that has the web role alone: the one thread of a worker is busy with the night, and a press waited for
 * it at each of its steps. Workers leave the lane to it while it says so.
 */
export function takePresses(context: Context): PressLane {
  const { config } = context
  const log = moduleLog(context.log, 'workers')
  const onError = (error: unknown) =>
    log.warn({ problem: describeError(error) }, 'a worker met an error and continues')
  const lane = createHands(config, onError)
  let lookUp: LookUpOne | undefined
  let reachedAtMs = -Infinity

  async function isReached(): Promise<boolean> {
    if (performance.now() - reachedAtMs < reachableMs) return true
    try {
      await assertReachable('the data service', config.serviceUrl ?? '')
    } catch {
      return false
    }
    reachedAtMs = performance.now()
    return true
  }

  async function begin(engine: Engine): Promise<LookUpOne> {
    await takeFirstCount(context, engine)
    return createLookUps(context, engine, {
      onHalt: (error) =>
        log.error({ code: error.code, problem: describeError(error) }, 'work is parked until this is fixed'),
      onError,
      lastAnswer: (operation, since) => lastAnswered(context.database.db, operation, since),
    }).hot()
  }

  const loop = startPollLoop({
    name: 'take the presses',
    async work() {
      const engine = await context.openEngine()
      if (!(await isReached())) {
        lane.leave()
        return reachableMs
      }
      lane.take(engine, (lookUp ??= await begin(engine)))
      await soon(engine.pressSignals.claim(claimedMs))
      return everyMs
    },
    pauseMs: everyMs,
    onError,
  })
  return {
    async stop(graceMs) {
      await loop.stop()
      // Workers look every two seconds.
      await context.openEngine().then(({ pressSignals }) => soon(pressSignals.claim(1)))
      await lane.stop(graceMs)
    },
  }
}

/** Works the hot lane, and with `mayLeave` only while no process with the web role alone takes it. */
export function workPresses(
  { config }: Pick<Context, 'config'>,
  engine: Engine,
  { lookUp, mayLeave, onError }: { lookUp: LookUpOne; mayLeave: boolean; onError: (error: unknown) => void },
): PressLane {
  const lane = createHands(config, onError)
  lane.take(engine, lookUp)
  const loop =
    mayLeave &&
    startPollLoop({
      name: 'leave the presses to the web role',
      async work() {
        const isClaimed = await soon(engine.pressSignals.isClaimed())
        if (isClaimed === true) lane.leave()
        else if (isClaimed === false) lane.take(engine, lookUp)
      },
      pauseMs: everyMs,
      onError,
    })
  return {
    async stop(graceMs) {
      await Promise.all([loop && loop.stop(), lane.stop(graceMs)])
    },
  }
}

/** Resolves with undefined where Redis does not answer: its commands wait until it does. */
function soon<T>(answer: Promise<T>): Promise<T | undefined> {
  return Promise.race([answer.catch(() => undefined), pause(everyMs, never).then(() => undefined)])
}

const never = new AbortController().signal
/** The lock of a lookup is renewed as long as its process lives: another one would send the same request beside it. */
const leavingMs = 3_600_000

/** The consumer of the lane that a process has or has not, and those that it has left and that end what they have begun. */
function createHands({ concurrency }: Pick<Config, 'concurrency'>, onError: (error: unknown) => void) {
  let worker: QueueWorker | undefined
  const leaving = new Set<QueueWorker>()
  let isStopped = false

  return {
    take({ queues }: Engine, lookUp: LookUpOne): void {
      // As many as in the background: with few of them in flight, the background would take the tokens that they leave.
      if (!isStopped) worker ??= queues.workLookups('hot', Math.max(8, concurrency), lookUp)
    },

    leave(): void {
      if (!worker) return
      const left = worker
      worker = undefined
      leaving.add(left)
      left
        .close(leavingMs)
        .catch(onError)
        .finally(() => leaving.delete(left))
    },

    async stop(graceMs: number): Promise<void> {
      isStopped = true
      await Promise.all([...leaving, ...(worker ? [worker] : [])].map((each) => each.close(graceMs)))
    },
  }
}
