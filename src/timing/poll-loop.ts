import { startHeartbeat } from './heartbeats.ts'

export interface PollLoop {
  /** Starts the next round now instead of after the rest of the pause. */
  wake(): void
  /** Resolves when the round that is running has ended. No further round starts. */
  stop(): Promise<void>
}

/**
 * Runs `work` now and then after each pause. Rounds never overlap. An error is reported, and the next round runs all the
 * same. `work` may return how long to pause this time. The process counts as hanging when a round takes longer than `longestMs`
 * (ten minutes) without a call of `beat`.
 */
export function startPollLoop(options: {
  /** For an operator, when it hangs. */
  name: string
  work: (beat: () => void) => Promise<number | void>
  pauseMs: number
  onError: (error: unknown) => void
  longestMs?: number | undefined
}): PollLoop {
  const heartbeat = startHeartbeat(options.name, options.longestMs)
  let isStopped = false
  let isWoken = false
  let endPause: () => void = () => {}

  async function loop(): Promise<void> {
    while (!isStopped) {
      isWoken = false
      heartbeat.work()
      let pauseMs = options.pauseMs
      try {
        pauseMs = (await options.work(heartbeat.work)) ?? pauseMs
      } catch (error) {
        options.onError(error)
      }
      if (isStopped || isWoken) continue
      heartbeat.rest(pauseMs)
      await pause(pauseMs)
    }
    heartbeat.end()
  }

  async function pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      endPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  const done = loop()
  return {
    wake() {
      isWoken = true
      endPause()
    },
    async stop() {
      isStopped = true
      endPause()
      await done
    },
  }
}
