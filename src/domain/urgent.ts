import { AsyncLocalStorage } from 'node:async_hooks'

const marked = new AsyncLocalStorage<true>()

/** Marks all that `work` does, however deep: somebody waits for it. What stands in one line with others may let it go first. */
export function urgently<T>(work: () => T): T {
  return marked.run(true, work)
}

export function isUrgent(): boolean {
  return marked.getStore() === true
}
