/**
 * The end of a file whose free room is before it. Pages that are written, compressed and written again leave slots of all sizes, and a
 * fifth of a large file was free room. Pages of its end move there, as they are, and the end is cut off.
 */
import { fstatSync, ftruncateSync } from 'node:fs'
import type { LeftSlots } from './left-slots.ts'
import type { Moved } from './moves.ts'
import type { OpenPages } from './open-pages.ts'
import { sectorBytes } from './page-map.ts'
import type { Put } from './put.ts'
import type { Slot } from './slots.ts'

/** So much of the end is looked at: 2 MB, or twice as much and so on where few of its pages can be moved, and a part of the file at most. */
const tailSectors = 4_096
const tailPart = 0.25
const fewPages = 64

interface Tail {
  left: LeftSlots
  put: Put
  readSlot: (page: number, slot: Slot) => Buffer
  /** Postgres may soon write the page again, which takes it from there, or it cannot be read. */
  staysAt: (page: number) => boolean
  isOver: () => boolean
}

/** Writes pages of the end to free room before it. Returns how many it has moved. */
export function writeBeforeTail(open: OpenPages, tail: Tail, moved: Moved[]): number {
  const { from, pages } = findTail(open, tail)
  const place = (length: number) => open.slots.takeBefore(from, length)
  open.map.moveChunks(from, {
    place,
    give: (slot) => open.slots.give(slot),
    leave: (slot) => tail.left.add(slot),
  })
  for (const { page, slot } of pages) {
    if (moved.length > 0 && tail.isOver()) break
    const start = place(slot.length)
    if (start === undefined) continue
    moved.push({ page, slot: { start, length: slot.length } })
    tail.put(open.fd, tail.readSlot(page, slot), start * sectorBytes)
  }
  return moved.length
}

function findTail({ map, slots: { end } }: OpenPages, { staysAt }: Tail) {
  const most = Math.floor(tailPart * end)
  for (let sectors = Math.min(tailSectors, most); ; sectors = Math.min(2 * sectors, most)) {
    const pages = map.pagesFrom(end - sectors).filter(({ page }) => !staysAt(page))
    if (pages.length >= fewPages || sectors === most) return { from: end - sectors, pages }
  }
}

/** Cuts off what neither the map nor, after a power cut, the map on the disk points to. Returns the sectors. */
export function cutTail({ fd, map, slots }: OpenPages, left: LeftSlots): number {
  const end = Math.max(map.end, left.end)
  const cut = slots.end - end
  if (cut <= 0) return 0
  // One that was cut off by somebody else is not made longer: its pages are missing, and not zeros.
  if (fstatSync(fd).size > end * sectorBytes) ftruncateSync(fd, end * sectorBytes)
  slots.cut(end)
  return cut
}
