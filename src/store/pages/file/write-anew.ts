import { closeSync, constants, fdatasyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { flushFolder } from '../folders.ts'
import { createPageMap, type PageMap, sectorBytes, wholePage, writeEmptyMap } from './page-map.ts'
import { onError, type Put } from './put.ts'
import { createSlots, type Slot, type Slots } from './slots.ts'

/** Makes a file of pages that must not be there yet, with an empty map. */
export function newFile(path: string, put: Put): number {
  const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600)
  onError(
    () => writeEmptyMap(fd, put),
    () => closeSync(fd),
  )
  return fd
}

/**
 * Writes the pages of a map into a new file without free room, which takes the place of the old one once it is on the disk. Where that
 * fails, nothing is left of it, because a full disk needs the room.
 */
export function writeAnew(
  path: string,
  {
    map,
    readSlot,
    put,
    flush,
  }: { map: PageMap; readSlot: (page: number, slot: Slot) => Buffer; put: Put; flush: () => void },
): { fd: number; map: PageMap; slots: Slots } {
  const name = `${path}.new`
  rmSync(name, { force: true })
  const fd = newFile(name, put)
  return onError(
    () => {
      let isInUse = false
      // All of it is flushed before it has its name, and from then on each new chunk as in any file.
      const to = createPageMap(fd, put, () => isInUse && flush())
      const slots = createSlots(to.used(), wholePage)
      for (let page = 0; page < map.count; page += 1) {
        const slot = map.at(page)
        if (!slot) continue
        const bytes = readSlot(page, slot)
        const start = slots.take(slot.length)
        put(fd, bytes, start * sectorBytes)
        to.set(page, { start, length: slot.length }, slots)
      }
      to.setCount(map.count)
      fdatasyncSync(fd)
      renameSync(name, path)
      flushFolder(dirname(path))
      isInUse = true
      return { fd, map: to, slots }
    },
    () => {
      closeSync(fd)
      rmSync(name, { force: true })
    },
  )
}
