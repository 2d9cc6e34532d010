import { unreadable } from './put.ts'

/** A run of sectors in a file of pages. */
export interface Slot {
  start: number
  length: number
}

/**
 * Knows which sectors of a file are free. Sectors are taken from freed slots of the same or a larger size, else at the file's end.
 * Before a file grows while much of it is free, neighbours among the free slots are put together.
 */
export interface Slots {
  /** The sectors of the file, free ones included. */
  readonly end: number
  readonly free: number
  take(length: number): number
  give(slot: Slot): void
}

/** Neighbours are put together when so much is free, and again once the file has grown by so much: it takes some milliseconds. */
const freeShare = 0.1
const grownBy = 1.02

/** Throws where two slots share a sector: writing to one would change the other. */
export function createSlots(used: Iterable<Slot>, largest: number): Slots {
  /** The places of free slots, by their length. */
  let bySize: number[][] = []
  let end = 0
  let free = 0
  let mergesFrom = 0

  function clear(): void {
    bySize = Array.from({ length: largest + 1 }, () => [])
    free = 0
  }

  function give({ start, length }: Slot): void {
    free += length
    for (let at = start; at < start + length; at += largest)
      bySize[Math.min(largest, start + length - at)]!.push(at)
  }

  function takeFree(length: number): number | undefined {
    for (let size = length; size <= largest; size += 1) {
      const start = bySize[size]!.pop()
      if (start === undefined) continue
      free -= size
      if (size > length) give({ start: start + length, length: size - length })
      return start
    }
    return undefined
  }

  /** A slot that was split is one again, and what several small ones left has room for a large one. */
  function merge(): void {
    mergesFrom = end * grownBy
    const all = bySize
      .flatMap((starts, length) => starts.map((start) => ({ start, length })))
      .toSorted((a, b) => a.start - b.start)
    clear()
    let run: Slot | undefined
    for (const { start, length } of all) {
      if (run && run.start + run.length === start) run.length += length
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

  return {
    get end() {
      return end
    },
    get free() {
      return free
    },
    take(length) {
      let start = takeFree(length)
      if (start === undefined && free >= freeShare * end && end >= mergesFrom) {
        merge()
        start = takeFree(length)
      }
      if (start !== undefined) return start
      end += length
      return end - length
    },
    give,
  }
}
