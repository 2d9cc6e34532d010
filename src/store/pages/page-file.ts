import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  rmSync,
} from 'node:fs'
import { promisify } from 'node:util'
import { createLeftSlots } from './left-slots.ts'
import { damagedPage, packPage, unpackPage } from './packed-page.ts'
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
import { newFile, writeAnew } from './write-anew.ts'
import { createWrittenPages } from './written-pages.ts'

const zeros = Buffer.alloc(pageBytes)
/** A file of which less than this is free is left as it is. */
const freeShare = 0.1
/** 128 MB. A file with more than that is written anew only where it frees more than its copy takes meanwhile. */
const largeSectors = 262_144
/** 8 MB. */
const mostWritten = 1_024

/** A page that was compressed, and the time at which it had been written. */
interface Moved {
  page: number
  atMs: number
  slot: Slot
}

/** Makes a file of pages, without any. What was there is gone. */
export function createPageFile(path: string, nowMs: () => number, options: Options = {}): PageFile {
  rmSync(path, { force: true })
  closeSync(newFile(path, options.put ?? putBytes))
  return openPageFile(path, nowMs, options)
}

interface Options {
  /** Tests give one that a kill interrupts. */
  put?: Put
  /** So many pages are whole, and from then on a compressed one that is written stays compressed. */
  most?: number
}

/**
 * The pages of one relation's file. A page is written as it is, in its place, as long as Postgres changes it; one that has not
 * been written for a while is compressed, to a third on average, and takes as many sectors of 512 bytes as it needs. A compressed
 * page that Postgres writes again is whole again, unless many are: a table that is vacuumed has each of its pages written once, in
 * one statement, and would take the room of all of them whole.
 *
 * Crash windows, beside those of `page-map.ts`:
 * - A compressed page that Postgres writes again is written to a place of its own before the map points to it: killed in between,
 *   the file has the page of before.
 * - A page that is compressed has not changed, so Postgres' log would not restore it: the compressed page is flushed to the disk
 *   before the map points to it, and the map before the place of before is used again. A power cut leaves one of both. For a page that
 *   Postgres writes again there is no such order: PGlite runs without fsync.
 * - A file that is emptied has an empty map before it is cut off.
 * - The file is written anew beside itself, flushed, and takes its own name: killed in between, the old one is in use.
 */
export function openPageFile(
  path: string,
  nowMs: () => number,
  { put = putBytes, most = mostWritten }: Options = {},
): PageFile {
  let fd = openSync(path, constants.O_RDWR)
  let map = onError(
    () => createPageMap(fd, put),
    () => closeSync(fd),
  )
  let slots = onError(
    () => createSlots(map.used(), wholePage),
    () => closeSync(fd),
  )
  const written = createWrittenPages(nowMs)
  const left = createLeftSlots({ flush: () => fdatasyncSync(fd), room: () => slots })
  let isClosed = false
  /** Counts how often the file was emptied. */
  let generation = 0
  const scratch = Buffer.alloc(pageBytes)
  /** Pages that stood behind the end of a file that was cut off. Once it grows again, they would be zeros. */
  const missing = new Set<number>()
  const sectors = fstatSync(fd).size / sectorBytes
  for (let page = 0; page < map.count; page += 1) {
    const slot = map.at(page)
    if (slot?.length === wholePage) written.note(page, 0)
    if (slot && slot.start + slot.length > sectors) missing.add(page)
  }

  /** The system gives the number of a closed file to the next one, and writing to it would destroy that one. */
  function assertOpen(): void {
    if (isClosed) throw Object.assign(new Error('the file of pages is closed'), { code: 'EBADF' })
  }

  /** Puts these bytes into room of their own, that is free again where it fails. */
  function place(bytes: Uint8Array): Slot {
    const length = bytes.length / sectorBytes
    const slot = { start: slots.take(length), length }
    onError(
      () => put(fd, bytes, slot.start * sectorBytes),
      () => slots.give(slot),
    )
    return slot
  }

  /** Nothing of what the file had is left in it: Postgres empties the file of a table that it drops, such as one with erased rows. */
  function clear(): void {
    writeEmptyMap(fd, put)
    generation += 1
    map = createPageMap(fd, put)
    slots = createSlots(map.used(), wholePage)
    left.take()
    written.clear()
    missing.clear()
    ftruncateSync(fd, emptyMapBytes)
  }

  /** As it is in the file. */
  function readSlot(page: number, { start, length }: Slot): Buffer {
    const bytes = scratch.subarray(0, length * sectorBytes)
    if (missing.has(page) || readSync(fd, bytes, 0, bytes.length, start * sectorBytes) !== bytes.length)
      throw damagedPage()
    return bytes
  }

  function readPage(page: number): Uint8Array {
    const slot = map.at(page)
    if (!slot) return zeros
    const bytes = readSlot(page, slot)
    return slot.length === wholePage ? bytes : unpackPage(bytes, page)
  }

  function writePage(page: number, bytes: Uint8Array): void {
    assertMay(page)
    const before = map.at(page)
    if (zeros.equals(bytes)) {
      map.set(page, undefined, slots)
      if (before) left.add(before)
      written.delete(page)
    } else {
      const isWhole = !before || before.length === wholePage || written.count < most
      const kept = isWhole ? bytes : smaller(page, bytes)
      if (before?.length === wholePage) put(fd, kept, before.start * sectorBytes)
      else {
        map.set(page, place(kept), slots)
        if (before) left.add(before)
      }
      if (isWhole) written.note(page)
    }
    missing.delete(page)
    if (page >= map.count) map.setCount(page + 1)
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

  /** Nothing is done where Postgres has written the page, or cut it off, since it was compressed. */
  function pointTo({ page, atMs, slot }: Moved): void {
    const before = map.at(page)
    if (!before || written.at(page) !== atMs) return slots.give(slot)
    map.set(page, slot, slots)
    left.add(before)
    written.delete(page)
  }

  return {
    get size() {
      return map.count * pageBytes
    },
    read(into, offset, length, position) {
      assertOpen()
      const end = Math.min(position + length, map.count * pageBytes)
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
          const whole = Buffer.from(page < map.count ? readPage(page) : zeros)
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
      const before = map.count
      map.setCount(pages)
      for (let page = pages; page < before; page += 1) {
        const slot = map.at(page)
        map.set(page, undefined, slots)
        if (slot) left.add(slot)
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
      let looked = 0
      const begun = generation
      const moved: Moved[] = []
      try {
        for (const [page, atMs] of written) {
          if (atMs >= writtenBeforeMs || (looked > 0 && nowMs() >= untilMs)) break
          looked += 1
          const slot = writeCompressed(page)
          if (slot) moved.push({ page, atMs, slot })
          // It stays as it is until Postgres changes it.
          else written.delete(page)
        }
        if (moved.length === 0 && left.sectors === 0) return looked
        const pointedAway = left.take()
        // Their room is not used before the next start where it fails: which map the disk has is not known then.
        await flushed(fd).catch((error: unknown) => {
          if (!isClosed) throw error
        })
        if (isClosed || generation !== begun) return looked
        for (const slot of pointedAway) slots.give(slot)
        for (let next = moved.shift(); next; next = moved.shift()) pointTo(next)
        return looked
      } finally {
        // A file that was emptied meanwhile has all its room free.
        if (generation === begun) for (const { slot } of moved) slots.give(slot)
      }
    },
    shrink() {
      assertOpen()
      const free = slots.free + left.sectors
      const kept = slots.end - free
      if (free < freeShare * slots.end || (kept > largeSectors && free < kept)) return 0
      const bytesBefore = slots.end * sectorBytes
      const anew = writeAnew(path, { map, readSlot, put })
      closeSync(fd)
      ;({ fd, map, slots } = anew)
      left.take()
      return bytesBefore - slots.end * sectorBytes
    },
    flush() {
      assertOpen()
      fdatasyncSync(fd)
    },
    close() {
      if (isClosed) return
      isClosed = true
      closeSync(fd)
    },
  }
}

const flushed = promisify(fdatasync)
