import { unreadable } from './put.ts'

/** A run of sectors in a file of pages. */
export interface Slot {
  start: number
  length: number
}

/** Knows which sectors of a file are free. Sectors are taken from freed slots of the same or a larger size, else at the file's end. */
export interface Slots {
  /** The sectors of the file, free ones included. */
  readonly end: number
  readonly free: number
  take(length: number): number
  give(slot: Slot): void
}

/** Throws where two slots share a sector: writing to one would change the other. */
export function createSlots(used: Iterable<Slot>, largest: number): Slots {
  const bySize: number[][] = Array.from({ length: largest + 1 }, () => [])
  let end = 0
  let free = 0

  function give({ start, length }: Slot): void {
    free += length
    for (let at = start; at < start + length; at += largest)
      bySize[Math.min(largest, start + length - at)]!.push(at)
  }

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
      for (let size = length; size <= largest; size += 1) {
        const start = bySize[size]!.pop()
        if (start === undefined) continue
        free -= size
        if (size > length) give({ start: start + length, length: size - length })
        return start
      }
      end += length
      return end - length
    },
    give,
  }
}
