export interface Turns {
  /** Returns after how long this name has a turn: 0 for now. */
  waitMs(name: string): number
  take(name: string): void
}

/** Hands out turns by name: so many follow each other at once, and after that, as many a second. */
export function createTurns(
  { atOnce, perSecond }: { atOnce: number; perSecond: number },
  nowMs: () => number,
): Turns {
  const names = new Map<string, { turns: number; atMs: number }>()

  function turnsOf(name: string): number {
    const { turns, atMs } = names.get(name) ?? { turns: atOnce, atMs: nowMs() }
    return Math.min(atOnce, turns + (Math.max(0, nowMs() - atMs) * perSecond) / 1_000)
  }

  return {
    waitMs: (name) => Math.max(0, Math.ceil(((1 - turnsOf(name)) * 1_000) / perSecond)),
    take(name) {
      names.set(name, { turns: turnsOf(name) - 1, atMs: nowMs() })
    },
  }
}
