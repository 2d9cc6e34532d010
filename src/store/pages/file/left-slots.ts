import type { Slot, Slots } from './slots.ts'

/** 8 MB. */
const many = 16_384

/** Slots that the map no longer points to. Their room is not used again before that map is on the disk. */
export interface LeftSlots {
  readonly sectors: number
  /** The sector behind the last one that a map on the disk may point to. */
  readonly end: number
  /** Flushes the file where they are many: a statement that writes a whole table leaves no time to flush in between. */
  add(slot: Slot): void
  /** Returns them all, and has none any more. */
  take(): Slot[]
  /** The flush has failed: which map the disk has is not known, so these are neither used nor cut off before the next start. */
  lose(slots: readonly Slot[]): void
  /** The file has no pages any more, or is another one. */
  forget(): void
}

export function createLeftSlots(file: { flush(): void; room(): Pick<Slots, 'give'> }): LeftSlots {
  let slots: Slot[] = []
  let sectors = 0
  let lostEnd = 0

  function lose(lost: readonly Slot[]): void {
    lostEnd = endOf(lost, lostEnd)
  }

  function take(): Slot[] {
    const taken = slots
    slots = []
    sectors = 0
    return taken
  }

  return {
    get sectors() {
      return sectors
    },
    get end() {
      return endOf(slots, lostEnd)
    },
    add(slot) {
      slots.push(slot)
      sectors += slot.length
      if (sectors < many) return
      try {
        file.flush()
      } catch {
        // They are lost by then, and the page itself is written.
        return
      }
      for (const each of take()) file.room().give(each)
    },
    take,
    lose,
    forget() {
      take()
      lostEnd = 0
    },
  }
}

function endOf(slots: readonly Slot[], least: number): number {
  return slots.reduce((end, { start, length }) => Math.max(end, start + length), least)
}
