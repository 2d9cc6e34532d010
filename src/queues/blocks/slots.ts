/** Lookups that may be under way at once in this process, from blocks and from jobs of their own. */
export interface Slots {
  /** Returns the number of free slots that nobody waits for. */
  free(): number
  /** Takes a free slot, if there is one that nobody waits for. */
  tryTake(): boolean
  /** Waits for a slot, ahead of everybody who tries. Returns false when the slots are closed before it came. */
  take(): Promise<boolean>
  release(): void
  /** Called when a slot has become free that nobody waits for. */
  onFree(listener: () => void): void
  /** Sends away those who wait. Slots that are taken stay so until they are released. */
  close(): void
}

export function createSlots(size: number): Slots {
  let free = size
  let isClosed = false
  let waiting: ((isTaken: boolean) => void)[] = []
  let onFree = () => {}

  return {
    free: () => (isClosed ? 0 : free),

    tryTake() {
      if (isClosed || free === 0) return false
      free -= 1
      return true
    },

    take() {
      if (isClosed) return Promise.resolve(false)
      if (free > 0) {
        free -= 1
        return Promise.resolve(true)
      }
      return new Promise((resolve) => waiting.push(resolve))
    },

    release() {
      const next = waiting.shift()
      if (next) return next(true)
      free += 1
      if (!isClosed) onFree()
    },

    onFree(listener) {
      onFree = listener
    },

    close() {
      isClosed = true
      for (const resolve of waiting) resolve(false)
      waiting = []
    },
  }
}
