import { describeError } from '../../domain/errors.ts'
import type { QueueWorker } from '../../queues/working.ts'
import { startPollLoop } from '../../timing/poll-loop.ts'
import { assertReachable } from '../context/assert-reachable.ts'
import type { Config } from '../config/config.ts'
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
/** A web process may have no way to the service: then workers look up its presses, as before. */
const unreachableMs = 30_000
/** The time that a lookup has to end when its process leaves the lane. */
const graceMs = 15_000

/**
 * Looks up presses in a process that has the web role alone: the one thread of a worker is busy with the night, and a press waited for
 * it at each of its steps. Workers leave the lane to it while it says so.
 */
export async function takePresses(context: Context): Promise<PressLane> {
  const { config } = context
  const log = moduleLog(context.log, 'workers')
  const engine = await context.openEngine()
  const onError = (error: unknown) =>
    log.warn({ problem: describeError(error) }, 'a worker met an error and continues')
  const lookUp = createLookUps(context, engine, {
    onHalt: (error) =>
      log.error({ code: error.code, problem: describeError(error) }, 'work is parked until this is fixed'),
    onError,
  }).hot()
  let worker: QueueWorker | undefined
  const loop = startPollLoop({
    name: 'take the presses',
    async work() {
      if (!worker) {
        const isReachable = await assertReachable('the data service', config.serviceUrl ?? '').then(
          () => true,
          () => false,
        )
        if (!isReachable) return unreachableMs
        await takeFirstCount(context, engine)
        worker = workHot(engine.queues, config, lookUp)
      }
      await engine.pressSignals.claim(claimedMs)
      return everyMs
    },
    pauseMs: everyMs,
    onError,
  })
  return {
    async stop(graceMs) {
      await loop.stop()
      // Workers look every two seconds.
      await engine.pressSignals.claim(1).catch(onError)
      await worker?.close(graceMs)
    },
  }
}

/** Works the hot lane, and with `mayLeave` only while no process with the web role alone takes it. */
export function workPresses(
  { config }: Pick<Context, 'config'>,
  { queues, pressSignals }: Engine,
  { lookUp, mayLeave, onError }: { lookUp: LookUpOne; mayLeave: boolean; onError: (error: unknown) => void },
): PressLane {
  let worker: QueueWorker | undefined = workHot(queues, config, lookUp)
  const loop =
    mayLeave &&
    startPollLoop({
      name: 'leave the presses to the web role',
      async work() {
        const isClaimed = await pressSignals.isClaimed()
        if (!isClaimed) worker ??= workHot(queues, config, lookUp)
        else if (worker) {
          await worker.close(graceMs)
          worker = undefined
        }
      },
      pauseMs: everyMs,
      onError,
    })
  return {
    async stop(graceMs) {
      // First, or the loop would begin another one. Both wait for no more than the grace.
      await Promise.all([loop && loop.stop(), worker?.close(graceMs)])
      await worker?.close(0)
    },
  }
}

/** As many as in the background: with few of them in flight, the background would take the tokens that they leave. */
function workHot(
  queues: Pick<Engine['queues'], 'workLookups'>,
  { concurrency }: Pick<Config, 'concurrency'>,
  lookUp: LookUpOne,
): QueueWorker {
  return queues.workLookups('hot', Math.max(8, concurrency), lookUp)
}
