import type { Slot, Slots } from './slots.ts'

/** 8 MB. */
const many = 16_384

/** Slots that the map no longer points to. Their room is not used again before that map is on the disk. */
export interface LeftSlots {
  readonly sectors: number
  /** Flushes the file where they are many: a statement that writes a whole table leaves no time to flush in between. */
  add(slot: Slot): void
  /** Returns them all, and has none any more. */
  take(): Slot[]
}

export function createLeftSlots(file: { flush(): void; room(): Pick<Slots, 'give'> }): LeftSlots {
  let slots: Slot[] = []
  let sectors = 0

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
    add(slot) {
      slots.push(slot)
      sectors += slot.length
      if (sectors < many) return
      const taken = take()
      try {
        file.flush()
      } catch {
        // Which map the disk has is not known: their room is not used before the next start. The page itself is written.
        return
      }
      for (const each of taken) file.room().give(each)
    },
    take,
  }
}
