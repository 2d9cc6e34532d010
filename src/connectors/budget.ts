import type { CallBudget, CallLimit } from '../domain/ports/call-budget.ts'

/** A call budget for one process, for tests and for running without Redis. */
export function createMemoryCallBudget(options: { now?: () => number } = {}): CallBudget {
  const now = options.now ?? Date.now
  const rolling = new Map<string, number[]>()
  const days = new Map<string, { used: number; endsAtMs: number }>()
  const closedUntil = new Map<string, number>()

  const recent = (key: string, windowMs: number): number[] => {
    const kept = (rolling.get(key) ?? []).filter((atMs) => atMs > now() - windowMs)
    rolling.set(key, kept)
    return kept
  }
  const day = (key: string, endsAtMs: number): { used: number; endsAtMs: number } => {
    const known = days.get(key)
    if (known && known.endsAtMs > now()) return known
    const fresh = { used: 0, endsAtMs }
    days.set(key, fresh)
    return fresh
  }
  const waitFor = (key: string, limit: CallLimit): number => {
    const closedMs = (closedUntil.get(key) ?? 0) - now()
    if (closedMs > 0) return closedMs
    if ('endsAtMs' in limit) {
      const today = day(key, limit.endsAtMs)
      return today.used < limit.limit ? 0 : Math.max(1, today.endsAtMs - now())
    }
    const window = recent(key, limit.windowMs)
    if (window.length < limit.limit) return 0
    return Math.max(1, (window[window.length - limit.limit] ?? 0) + limit.windowMs - now())
  }

  return {
    async take(account, limits) {
      for (const limit of limits) {
        const waitMs = waitFor(`${account} ${limit.name}`, limit)
        if (waitMs > 0) return { waitMs, limit: limit.name }
      }
      for (const limit of limits) {
        const key = `${account} ${limit.name}`
        if ('endsAtMs' in limit) day(key, limit.endsAtMs).used += 1
        else recent(key, limit.windowMs).push(now())
      }
      return { waitMs: 0 }
    },
    async close(account, limit, forMs) {
      const key = `${account} ${limit}`
      closedUntil.set(key, Math.max(closedUntil.get(key) ?? 0, now() + forMs))
    },
    async learn(account, limit, used, endsAtMs) {
      const today = day(`${account} ${limit}`, endsAtMs)
      today.used = Math.max(today.used, used)
    },
  }
}
