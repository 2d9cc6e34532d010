/** Longer ones gain nothing and hold their locks longer. */
const mostInGroup = 64

/** What became of one item of a group: its result, or the error that is its own. */
export type Each<Result> = { ok: Result } | { error: unknown }

interface Waiting<Item, Result> {
  item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

/**
 * Does for many in one transaction what each asks for by itself. Nobody waits for company: an item begins at once, and what
 * comes while its group is under way is the next group. So an idle ledger answers as fast as ever, and a busy one writes
 * less often.
 *
 * Of one key there is one item in a group: who comes second sees what became of the first. `work` answers for each item, in their order, or throws, and then nothing of the group has happened as far as it knows:
 * each item is worked on again by itself, so that one which cannot pass spoils nothing for the others. So `work` must be
 * something that may be begun again, also when the word of its commit was lost.
 */
export function coalesce<Item, Result>(
  work: (items: readonly Item[]) => Promise<readonly Each<Result>[]>,
  keyOf: (item: Item) => string,
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = []
  let isBusy = false

  async function drain(): Promise<void> {
    isBusy = true
    while (waiting.length > 0) {
      // What comes in the same turn of the event loop belongs together.
      await new Promise((resolve) => setImmediate(resolve))
      await finish(nextGroup())
    }
    isBusy = false
  }

  /** The first of each key, in the order in which they came. */
  function nextGroup(): Waiting<Item, Result>[] {
    const group = new Map<string, Waiting<Item, Result>>()
    const later: Waiting<Item, Result>[] = []
    for (const each of waiting) {
      const key = keyOf(each.item)
      if (group.size < mostInGroup && !group.has(key)) group.set(key, each)
      else later.push(each)
    }
    waiting = later
    return [...group.values()]
  }

  async function finish(group: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await work(group.map(({ item }) => item))
      group.forEach(({ resolve, reject }, index) => {
        const each = results[index]
        if (each && 'ok' in each) resolve(each.ok)
        else reject(each ? each.error : new Error('no result for an item of a group'))
      })
    } catch (error) {
      const [only, ...others] = group
      if (only && others.length === 0) only.reject(error)
      else await Promise.all(group.map((each) => finish([each])))
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (!isBusy) void drain()
    })
}
