import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, rmSync } from 'node:fs'
import { createFlushes } from './flushes.ts'
import { createLeftSlots } from './left-slots.ts'
import { damagedPage, packPage, unpackPage } from './packed-page.ts'
import { createMoves } from './moves.ts'
import type { OpenPages } from './open-pages.ts'
import type { PageFile } from './page-file-type.ts'
import {
  assertMay,
  createPageMap,
  emptyMapBytes,
  pageBytes,
  sectorBytes,
  wholePage,
  writeEmptyMap,
} from './page-map.ts'
import { onError, put as putBytes, type Put } from './put.ts'
import { createSlots, type Slot } from './slots.ts'
import { cutTail, writeBeforeTail } from './tail.ts'
import { newFile, writeAnew } from './write-anew.ts'
import { createWrittenPages } from './written-pages.ts'

const zeros = Buffer.alloc(pageBytes)
/** A file of which less than this is free is left as it is. */
const freeShare = 0.1
/** 128 MB. A file with more than that is written anew only where it frees more than its copy takes meanwhile. */
const largeSectors = 262_144
/** 8 MB. */
const mostWritten = 1_024

/** 8 MB. A smaller file is left as it is until it is written anew. */
const smallSectors = 16_384
/** A file of which no page could be moved is not looked at for so long. */
const triesAgainMs = 10_000

/** Makes a file of pages, without any. What was there is gone. */
export function createPageFile(path: string, nowMs: () => number, options: Options = {}): PageFile {
  rmSync(path, { force: true })
  closeSync(newFile(path, options.put ?? putBytes))
  return openPageFile(path, nowMs, options)
}

interface Options {
  /** Tests give one that a kill interrupts. */
  put?: Put
  /** So many pages are whole, and from then on others are compressed when they are written. */
  most?: number
}

/**
 * The pages of one relation's file. A page is written as it is, in its place, as long as Postgres changes it; one that has not
 * been written for a while is compressed, to a third on average, and takes as many sectors of 512 bytes as it needs. A compressed
 * page that Postgres writes again is whole again, unless many are: a table that is vacuumed, or an index that is made, has each of its
 * pages written once, in one statement, and would take the room of all of them whole.
 *
 * Crash windows, beside those of `page-map.ts`:
 * - A compressed page that Postgres writes again is written to a place of its own before the map points to it: killed in between,
 *   the file has the page of before.
 * - A page that is compressed, or moves from the end of the file into free room, has not changed, so Postgres' log would not restore
 *   it: it is flushed to the disk in its new place before the map points there, and the map before the place of before is used again or
 *   cut off. A power cut leaves one of both. For a page that Postgres writes again there is no such order: PGlite runs without fsync.
 * - A file that is emptied has an empty map before it is cut off.
 * - The file is written anew beside itself, flushed, and takes its own name: killed in between, the old one is in use.
 */
export function openPageFile(
  path: string,
  nowMs: () => number,
  { put = putBytes, most = mostWritten }: Options = {},
): PageFile {
  const fd = openSync(path, constants.O_RDWR)
  const flush = () => flushes.now()
  const open = onError(
    (): OpenPages => {
      const map = createPageMap(fd, put, flush)
      return { fd, map, slots: createSlots(map.used(), wholePage), isClosed: false, timesEmptied: 0 }
    },
    () => closeSync(fd),
  )
  const written = createWrittenPages(nowMs)
  const left = createLeftSlots({ flush, room: () => open.slots })
  const flushes = createFlushes(open, () => left.lose(left.take()))
  const { noteChange, move } = createMoves(open, { left, flushes, onMoved: (page) => written.delete(page) })
  // A process that has ended may have left room to which the map on the disk still points, and a flush of its own that failed may have
  // lost the map itself.
  onError(
    () => {
      open.map.writeAgain()
      flush()
    },
    () => closeSync(fd),
  )
  let tightensFromMs = -Infinity
  const scratch = Buffer.alloc(pageBytes)
  /** Pages that stood behind the end of a file that was cut off. Once it grows again, they would be zeros. */
  const missing = new Set<number>()
  const sectors = fstatSync(open.fd).size / sectorBytes
  for (let page = 0; page < open.map.count; page += 1) {
    const slot = open.map.at(page)
    if (slot?.length === wholePage) written.note(page, 0)
    if (slot && slot.start + slot.length > sectors) missing.add(page)
  }

  /** The system gives the number of a closed file to the next one, and writing to it would destroy that one. */
  function assertOpen(): void {
    if (open.isClosed) throw Object.assign(new Error('the file of pages is closed'), { code: 'EBADF' })
  }

  /** Puts these bytes into room of their own, that is free again where it fails. */
  function place(bytes: Uint8Array): Slot {
    const length = bytes.length / sectorBytes
    const slot = { start: open.slots.take(length), length }
    onError(
      () => put(open.fd, bytes, slot.start * sectorBytes),
      () => open.slots.give(slot),
    )
    return slot
  }

  /** Nothing of what the file had is left in it: Postgres empties the file of a table that it drops, such as one with erased rows. */
  function clear(): void {
    writeEmptyMap(open.fd, put)
    open.timesEmptied += 1
    open.map = createPageMap(open.fd, put, flush)
    open.slots = createSlots(open.map.used(), wholePage)
    left.forget()
    written.clear()
    missing.clear()
    ftruncateSync(open.fd, emptyMapBytes)
  }

  /** As it is in the file. */
  function readSlot(page: number, { start, length }: Slot): Buffer {
    const bytes = scratch.subarray(0, length * sectorBytes)
    if (missing.has(page) || readSync(open.fd, bytes, 0, bytes.length, start * sectorBytes) !== bytes.length)
      throw damagedPage()
    return bytes
  }

  function readPage(page: number): Uint8Array {
    const slot = open.map.at(page)
    if (!slot) return zeros
    const bytes = readSlot(page, slot)
    return slot.length === wholePage ? bytes : unpackPage(bytes, page)
  }

  function writePage(page: number, bytes: Uint8Array): void {
    assertMay(page)
    noteChange(page)
    const before = open.map.at(page)
    if (zeros.equals(bytes)) {
      open.map.set(page, undefined, open.slots)
      if (before) left.add(before)
      written.delete(page)
    } else {
      const isWhole = before?.length === wholePage || written.count < most
      const kept = isWhole ? bytes : smaller(page, bytes)
      if (before?.length === wholePage) put(open.fd, kept, before.start * sectorBytes)
      else {
        open.map.set(page, place(kept), open.slots)
        if (before) left.add(before)
      }
      if (isWhole) written.note(page)
    }
    missing.delete(page)
    if (page >= open.map.count) open.map.setCount(page + 1)
  }

  function smaller(page: number, bytes: Uint8Array): Uint8Array {
    const packed = packPage(bytes, page)
    return packed.length < pageBytes ? packed : bytes
  }

  /** Writes the compressed page to a place of its own. Returns undefined where it would take as much. */
  function writeCompressed(page: number): Slot | undefined {
    const whole = onError(
      () => readPage(page),
      // Tried again at each turn, it would keep all others from theirs.
      () => written.delete(page),
    )
    const bytes = smaller(page, whole)
    return bytes === whole ? undefined : place(bytes)
  }

  return {
    get size() {
      return open.map.count * pageBytes
    },
    read(into, offset, length, position) {
      assertOpen()
      const end = Math.min(position + length, open.map.count * pageBytes)
      for (let at = position; at < end;) {
        const inPage = at % pageBytes
        const bytes = Math.min(pageBytes - inPage, end - at)
        const page = readPage((at - inPage) / pageBytes)
        into.set(page.subarray(inPage, inPage + bytes), offset + at - position)
        at += bytes
      }
      return Math.max(0, end - position)
    },
    write(from, offset, length, position) {
      assertOpen()
      for (let at = position; at < position + length;) {
        const inPage = at % pageBytes
        const bytes = Math.min(pageBytes - inPage, position + length - at)
        const given = new Uint8Array(from.buffer, from.byteOffset + offset + at - position, bytes)
        const page = (at - inPage) / pageBytes
        if (bytes === pageBytes) writePage(page, given)
        else {
          const whole = Buffer.from(page < open.map.count ? readPage(page) : zeros)
          whole.set(given, inPage)
          writePage(page, whole)
        }
        at += bytes
      }
      return length
    },
    truncate(size) {
      assertOpen()
      const pages = Math.ceil(size / pageBytes)
      if (pages === 0) return clear()
      assertMay(pages - 1)
      open.map.setCount(pages)
      for (let page = pages; page < open.map.capacity; page += 1) {
        noteChange(page)
        const slot = open.map.at(page)
        if (slot) {
          open.map.set(page, undefined, open.slots)
          left.add(slot)
        }
        written.delete(page)
        missing.delete(page)
      }
    },
    get restingSinceMs() {
      return written.oldestMs
    },
    get waiting() {
      return written.count
    },
    async compress(writtenBeforeMs, untilMs) {
      assertOpen()
      return move((moved) => {
        let looked = 0
        for (const [page, atMs] of written) {
          if (atMs >= writtenBeforeMs || (looked > 0 && nowMs() >= untilMs)) break
          looked += 1
          const slot = writeCompressed(page)
          if (slot) moved.push({ page, slot })
          // It stays as it is until Postgres changes it.
          else written.delete(page)
        }
        return looked
      })
    },
    get loose() {
      const free = open.slots.free + left.sectors
      const isLoose = open.slots.end > smallSectors && free >= freeShare * open.slots.end
      return isLoose && nowMs() >= tightensFromMs ? free * sectorBytes : 0
    },
    async tighten(untilMs) {
      assertOpen()
      const { timesEmptied } = open
      const staysAt = (page: number) => written.at(page) !== undefined || missing.has(page)
      const tail = { left, put, readSlot, staysAt, isOver: () => nowMs() >= untilMs }
      const pages = await move((moved) => writeBeforeTail(open, tail, moved))
      if (open.isClosed || open.timesEmptied !== timesEmptied) return 0
      if (cutTail(open, left) === 0 && pages === 0) {
        open.slots.merge()
        tightensFromMs = nowMs() + triesAgainMs
      }
      return pages
    },
    shrink() {
      assertOpen()
      const free = open.slots.free + left.sectors
      const kept = open.slots.end - free
      if (free < freeShare * open.slots.end || (kept > largeSectors && free < kept)) return 0
      const bytesBefore = open.slots.end * sectorBytes
      const anew = writeAnew(path, { map: open.map, readSlot, put, flush })
      closeSync(open.fd)
      Object.assign(open, anew)
      left.forget()
      return bytesBefore - open.slots.end * sectorBytes
    },
    flush() {
      assertOpen()
      flush()
    },
    close() {
      if (open.isClosed) return
      open.isClosed = true
      closeSync(open.fd)
    },
  }
}
