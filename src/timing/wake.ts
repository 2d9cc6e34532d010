import { pause } from './pause.ts'

export interface Wake {
  /** Ends the waits for this name, and the next one if there is none. */
  wake(name: string): void
  /** Returns whether there was a call of `wake` that has ended no wait yet, and forgets it. */
  take(name: string): boolean
  /** Resolves after `ms`, at a call of `wake`, or when the signal fires. Returns whether there was such a call. */
  wait(name: string, ms: number, signal: AbortSignal): Promise<boolean>
}

/** Lets a loop of this process wait for its next round, and be woken by who has work for it. */
export function createWake(): Wake {
  const sleepers = new Map<string, Set<() => void>>()
  const missed = new Set<string>()

  return {
    wake(name) {
      const sleeping = sleepers.get(name)
      if (!sleeping?.size) missed.add(name)
      else for (const end of sleeping) end()
    },

    take: (name) => missed.delete(name),

    async wait(name, ms, signal) {
      if (missed.delete(name)) return true
      const woken = new AbortController()
      const end = () => woken.abort()
      const sleeping = sleepers.get(name) ?? new Set()
      sleepers.set(name, sleeping.add(end))
      await pause(ms, AbortSignal.any([signal, woken.signal]))
      sleeping.delete(end)
      return woken.signal.aborted
    },
  }
}
