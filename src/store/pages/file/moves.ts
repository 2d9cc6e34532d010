import type { Flushes } from './flushes.ts'
import type { LeftSlots } from './left-slots.ts'
import type { OpenPages } from './open-pages.ts'
import type { Slot } from './slots.ts'

/** A page that was written to another place of its file, without a change. */
export interface Moved {
  page: number
  slot: Slot
}

/** Moves pages, one move at a time. While the disk is waited for, Postgres may write them again. */
export interface Moves {
  /** Postgres has written the page, or cut it off. */
  noteChange(page: number): void
  /** Has `write` write pages elsewhere, and points to them once they are on the disk. Returns what `write` returns. */
  move<T>(write: (moved: Moved[]) => T): Promise<T>
}

export function createMoves(
  open: OpenPages,
  { left, flushes, onMoved }: { left: LeftSlots; flushes: Flushes; onMoved: (page: number) => void },
): Moves {
  /** Since the last move began. */
  const changed = new Set<number>()

  /** Nothing is done where Postgres has written the page, or cut it off, since it was moved. */
  function pointTo({ page, slot }: Moved): void {
    const before = open.map.at(page)
    if (!before || changed.has(page)) return open.slots.give(slot)
    open.map.set(page, slot, open.slots)
    left.add(before)
    onMoved(page)
  }

  return {
    noteChange: (page) => void changed.add(page),
    async move(write) {
      const { timesEmptied } = open
      const { failures } = flushes
      const moved: Moved[] = []
      changed.clear()
      try {
        const result = write(moved)
        if (moved.length === 0 && left.sectors === 0) return result
        const pointedAway = left.take()
        const lose = () => void (open.timesEmptied === timesEmptied && left.lose(pointedAway))
        await flushes.soon().catch((error: unknown) => {
          lose()
          if (!open.isClosed) throw error
        })
        if (open.isClosed || open.timesEmptied !== timesEmptied) return result
        // One has failed meanwhile: what was written before it may not be on the disk.
        if (flushes.failures !== failures) {
          lose()
          return result
        }
        for (const slot of pointedAway) open.slots.give(slot)
        for (let next = moved.shift(); next; next = moved.shift()) pointTo(next)
        return result
      } finally {
        // A file that was emptied meanwhile has all its room free.
        if (open.timesEmptied === timesEmptied) for (const { slot } of moved) open.slots.give(slot)
      }
    },
  }
}
