import { unreadable } from './put.ts'

/** A run of sectors in a file of pages. */
export interface Slot {
  start: number
  length: number
}

/**
 * Knows which sectors of a file are free. Sectors are taken from a freed slot of the same size, from a run of several, from a larger
 * slot, or at the file's end. The pages of a table are compressed to nearly one size: where each took a part of what one whole page
 * had left, the rest of it fitted none.
 */
export interface Slots {
  /** The sectors of the file, free ones included. */
  readonly end: number
  readonly free: number
  take(length: number): number
  /** Takes sectors that begin before this one, where such are free. */
  takeBefore(end: number, length: number): number | undefined
  give(slot: Slot): void
  /** From here on the file has nothing any more. All of it must be free. */
  cut(end: number): void
  /** Puts neighbours together: what slots of any size have left has room for others. */
  merge(): void
}

/** So many free slots of a size are looked at for one that begins before a place. */
const mostLooked = 100
/** A slot is taken apart only where so much of the file is free: else a page that is written whole finds none. */
const freeShare = 0.1
/** Neighbours are put together when so much was freed since the last time: it takes some milliseconds. */
const freedShare = 0.02
const leastFreed = 2_048

/** Throws where two slots share a sector: writing to one would change the other. */
export function createSlots(used: Iterable<Slot>, largest: number): Slots {
  /** The places of free slots, by their length. */
  let bySize: number[][] = []
  /** Free room that is longer than the largest slot. */
  let runs: Slot[] = []
  let end = 0
  let free = 0
  /** Since neighbours were put together. */
  let freed = 0

  function clear(): void {
    bySize = Array.from({ length: largest + 1 }, () => [])
    runs = []
    free = 0
    freed = 0
  }

  function give(slot: Slot): void {
    if (slot.length === 0) return
    free += slot.length
    if (slot.length > largest) runs.push(slot)
    else bySize[slot.length]!.push(slot.start)
  }

  function takeOf(length: number): number | undefined {
    const start = bySize[length]!.pop()
    if (start !== undefined) free -= length
    return start
  }

  function takeFromRun(length: number, run = runs.at(-1)): number | undefined {
    if (!run) return undefined
    runs.splice(runs.lastIndexOf(run), 1)
    return takePart(run, length)
  }

  function takePart({ start, length: of }: Slot, length: number): number {
    free -= of
    give({ start: start + length, length: of - length })
    return start
  }

  function takeApart(length: number): number | undefined {
    for (let size = length + 1; size <= largest; size += 1) {
      const start = bySize[size]!.pop()
      if (start !== undefined) return takePart({ start, length: size }, length)
    }
    return undefined
  }

  function mergeIfFreed(): void {
    if (freed >= Math.max(leastFreed, freedShare * end)) merge()
  }

  function merge(): void {
    const all = bySize.flatMap((starts, length) => starts.map((start) => ({ start, length })))
    const sorted = [...all, ...runs].toSorted((a, b) => b.start - a.start)
    clear()
    let run: Slot | undefined
    // The first ones are given last, and taken first: the end of the file comes to be free.
    for (const { start, length } of sorted) {
      if (run && start + length === run.start) run = { start, length: length + run.length }
      else {
        if (run) give(run)
        run = { start, length }
      }
    }
    if (run) give(run)
  }

  clear()
  for (const { start, length } of [...used].toSorted((a, b) => a.start - b.start)) {
    if (start < end) throw unreadable('two pages of the embedded ledger have the same place in a file')
    if (start > end) give({ start: end, length: start - end })
    end = start + length
  }
  merge()

  return {
    get end() {
      return end
    },
    get free() {
      return free
    },
    take(length) {
      let start = takeOf(length) ?? takeFromRun(length)
      if (start === undefined) {
        mergeIfFreed()
        start = takeOf(length) ?? takeFromRun(length)
      }
      if (start === undefined && free >= freeShare * end) start = takeApart(length)
      if (start !== undefined) return start
      end += length
      return end - length
    },
    takeBefore(before, length) {
      for (let size = length; size <= largest; size += 1) {
        if (size === length + 1) {
          const run = runs.findLast(({ start }) => start < before)
          if (run) return takeFromRun(length, run)
        }
        const starts = bySize[size]!
        const least = Math.max(0, starts.length - mostLooked)
        for (let at = starts.length - 1; at >= least; at -= 1)
          if (starts[at]! < before) return takePart({ start: starts.splice(at, 1)[0]!, length: size }, length)
      }
      const run = runs.findLast(({ start }) => start < before)
      return run && takeFromRun(length, run)
    },
    give(slot) {
      freed += slot.length
      give(slot)
    },
    merge,
    cut(before) {
      const all = bySize.flatMap((starts, length) => starts.map((start) => ({ start, length })))
      const kept = [...all, ...runs]
      clear()
      for (const { start, length } of kept)
        give({ start, length: Math.min(length, Math.max(0, before - start)) })
      end = before
    },
  }
}
