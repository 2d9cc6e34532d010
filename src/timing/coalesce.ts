/** Longer groups gain nothing and hold their locks longer. */
const maxGroupSize = 64

/** So many callers of a group go on in one turn of the event loop; urgent ones all go on at once. */
const callersATurn = 2

/** The outcome of one item of a group: its result, or its own error. */
export type Each<Result> = { ok: Result } | { error: unknown }

/** The callers that wait for a group, and the time for which they do. */
export interface Waits {
  isUrgent: () => boolean
  gathering: Gathering
}

interface Waiting<Item, Result> {
  item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

/** The time for which the next group of a busy line is gathered: so many times as long as the one before took, up to a limit. */
export interface Gathering {
  times: number
  mostMs: number
  /**
   * Set where a larger group is worth a short wait: items that went through the step before as one group arrive one after another,
   * and the first of them would be a group by itself. While a line has groups of several, the next one begins when none has
   * arrived for so long, within the same limit. A line that has its items one by one waits for nothing.
   */
  quietMs?: number
}

const noGathering: Gathering = { times: 0, mostMs: 0 }

/**
 * Does in one transaction what many callers ask for one by one. The first item starts at once, and the items that arrive while
 * its group is running form the next group. That group begins when `gathering` says or when it is full: a busy ledger writes
 * more rarely, and an idle one responds as fast as ever.
 *
 * Items of urgent callers are a line of their own that is not gathered: they wait for no group of the others.
 *
 * A group holds at most one item of each key, so the second item of a key sees the effects of the first. An urgent item and
 * another of its key may be worked on at the same time, as in two processes, and `work` must be right there too. It returns an
 * outcome for each item, in their order. If it throws, each item is tried again by itself, so that one bad item
 * does not fail the others. `work` must therefore be repeatable, even when a commit succeeded and its confirmation was lost.
 */
export function coalesceWhileBusy<Item, Result>(
  work: (items: readonly Item[]) => Promise<readonly Each<Result>[]>,
  keyOf: (item: Item) => string,
  { isUrgent, gathering }: Waits,
): (item: Item) => Promise<Result> {
  const usual = createLine(work, { keyOf, gathering, callersATurn })
  // A line's loop runs in the context of whoever began it, and so as urgent as all of its items.
  const urgent = createLine(work, { keyOf, gathering: noGathering, callersATurn: Infinity })
  return (item) => (isUrgent() ? urgent(item) : usual(item))
}

function createLine<Item, Result>(
  work: (items: readonly Item[]) => Promise<readonly Each<Result>[]>,
  {
    keyOf,
    gathering,
    callersATurn,
  }: { keyOf: (item: Item) => string; gathering: Gathering; callersATurn: number },
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = []
  let isBusy = false
  let nextMs = 0
  let arrived = 0
  let lastSize = 0
  let onFull: (() => void) | undefined

  async function drain(): Promise<void> {
    isBusy = true
    while (waiting.length > 0) {
      await gather()
      const startedMs = performance.now()
      const group = nextGroup()
      lastSize = group.length
      await runGroup(group)
      const endedMs = performance.now()
      nextMs = endedMs + Math.min(gathering.mostMs, gathering.times * (endedMs - startedMs))
    }
    isBusy = false
  }

  async function gather(): Promise<void> {
    const mostMs = performance.now() + gathering.mostMs
    await gatherFor(nextMs - performance.now())
    await oneTurn()
    if (gathering.quietMs === undefined || lastSize <= 1) return
    for (
      let before = -1;
      before !== arrived && performance.now() < mostMs && waiting.length < maxGroupSize;
    ) {
      before = arrived
      await gatherFor(gathering.quietMs)
      await oneTurn()
    }
  }

  /** Items that arrive in the same turn of the event loop form one group. */
  async function oneTurn(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
  }

  async function gatherFor(leftMs: number): Promise<void> {
    if (leftMs <= 0 || waiting.length >= maxGroupSize) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, leftMs)
      onFull = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    onFull = undefined
  }

  /** Takes the first item of each key, in order of arrival. */
  function nextGroup(): Waiting<Item, Result>[] {
    const group = new Map<string, Waiting<Item, Result>>()
    const rest: Waiting<Item, Result>[] = []
    for (const each of waiting) {
      const key = keyOf(each.item)
      if (group.size < maxGroupSize && !group.has(key)) group.set(key, each)
      else rest.push(each)
    }
    waiting = rest
    return [...group.values()]
  }

  async function runGroup(group: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await work(group.map(({ item }) => item))
      void handOn(group.map((each, index) => ({ ...each, ...(results[index] ?? noResult()) })))
    } catch (error) {
      const [only, ...others] = group
      if (only && others.length === 0) only.reject(error)
      else await Promise.all(group.map((each) => runGroup([each])))
    }
  }

  /** The callers of a whole group would go on in one turn of the event loop, and who presses meanwhile would wait for all of them. */
  async function handOn(group: readonly (Waiting<Item, Result> & Each<Result>)[]): Promise<void> {
    for (const [index, each] of group.entries()) {
      if (index > 0 && index % callersATurn === 0) await oneTurn()
      if ('ok' in each) each.resolve(each.ok)
      else each.reject(each.error)
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      arrived += 1
      if (!isBusy) void drain()
      else if (waiting.length >= maxGroupSize) onFull?.()
    })
}

function noResult(): { error: unknown } {
  return { error: new Error('no result for an item of a group') }
}
