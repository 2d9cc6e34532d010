import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { promisify } from 'node:util'
import { zstdCompressSync, zstdDecompressSync, constants as zlib } from 'node:zlib'
import { createPageMap, pageBytes, type PageMap, sectorBytes, wholePage } from './page-map.ts'
import { put as putBytes, unreadable, type Put } from './put.ts'
import { createSlots, type Slot, type Slots } from './slots.ts'

const compression = { params: { [zlib.ZSTD_c_compressionLevel]: 1 } }
const zeros = Buffer.alloc(pageBytes)
/** A file of which less than this is free is left as it is. */
const freeShare = 0.1

/**
 * The pages of one relation's file. A page is written as it is, in its place, as long as Postgres changes it; one that has not
 * been written for a while is compressed, to a third on average, and takes as many sectors of 512 bytes as it needs.
 *
 * Crash windows, beside those of `page-map.ts`:
 * - A page that Postgres writes again is written to a place of its own before the map points to it: killed in between, the file has
 *   the page of before.
 * - A page that is compressed has not changed, so Postgres' log would not restore it: the compressed page is flushed to the disk
 *   before the map points to it, and the map before the place of before is used again. A power cut leaves one of both. For a page that
 *   Postgres writes again there is no such order: PGlite runs without fsync.
 * - The file is written anew beside itself, flushed, and takes its own name: killed in between, the old one is in use.
 */
export interface PageFile {
  /** In bytes, as Postgres sees it. */
  readonly size: number
  read(into: Int8Array | Uint8Array, offset: number, length: number, position: number): number
  write(from: Int8Array | Uint8Array, offset: number, length: number, position: number): number
  truncate(size: number): void
  /** The time at which the page was written that has rested longest as it is; undefined without one. */
  readonly restingSinceMs: number | undefined
  /**
   * Compresses pages that were written last before this time, at least one and then until the deadline. Returns how many it has
   * looked at: one that would not be smaller is left as it is.
   */
  compress(writtenBeforeMs: number, untilMs: number): Promise<number>
  /** Writes the file anew without the free room in it. Returns the bytes that this has freed. */
  shrink(): number
  /** Waits until all of it is on the disk. */
  flush(): void
  close(): void
}

/** Tests give a `put` that a kill interrupts. */
export function openPageFile(path: string, nowMs: () => number, put: Put = putBytes): PageFile {
  let fd = openFile(path)
  let map = createPageMap(fd, put)
  let slots = createSlots(map.used(), wholePage)
  /** Pages as they are, by the time they were written, the oldest first. No two have one time. */
  const written = new Map<number, number>()
  /** Not used again before the map that no longer points to them is on the disk. */
  let left: Slot[] = []
  let isClosed = false
  /** Counts how often the file was emptied. */
  let generation = 0
  let lastMs = 0
  const scratch = Buffer.alloc(pageBytes)
  for (let page = 0; page < map.count; page += 1) if (map.at(page)?.length === wholePage) written.set(page, 0)

  const take = (sectors: number) => slots.take(sectors)

  /** Nothing of what the file had is left in it: Postgres empties the file of a table that it drops, such as one with erased rows. */
  function clear(): void {
    ftruncateSync(fd)
    generation += 1
    map = createPageMap(fd, put)
    slots = createSlots(map.used(), wholePage)
    left = []
    written.clear()
  }

  function note(page: number): void {
    lastMs = Math.max(nowMs(), lastMs + 0.001)
    written.delete(page)
    written.set(page, lastMs)
  }

  function readPage(page: number): Uint8Array {
    const slot = map.at(page)
    if (!slot) return zeros
    const bytes = slot.length * sectorBytes
    if (readSync(fd, scratch, 0, bytes, slot.start * sectorBytes) !== bytes) throw damaged()
    if (slot.length === wholePage) return scratch
    const unpacked = zstdDecompressSync(scratch.subarray(2, 2 + scratch.readUInt16LE()), {
      maxOutputLength: pageBytes,
    })
    if (unpacked.length !== pageBytes) throw damaged()
    return unpacked
  }

  function writePage(page: number, bytes: Uint8Array): void {
    const before = map.at(page)
    if (zeros.equals(bytes)) {
      map.set(page, undefined, take)
      if (before) left.push(before)
      written.delete(page)
    } else {
      const stays = before?.length === wholePage
      const start = stays ? before.start : slots.take(wholePage)
      put(fd, bytes, start * sectorBytes)
      if (!stays) {
        map.set(page, { start, length: wholePage }, take)
        if (before) left.push(before)
      }
      note(page)
    }
    if (page >= map.count) map.setCount(page + 1)
  }

  /** Writes the compressed page to a place of its own. Returns undefined where it would take as much. */
  function writeCompressed(page: number): Slot | undefined {
    const packed = zstdCompressSync(readPage(page), compression)
    const length = Math.ceil((packed.length + 2) / sectorBytes)
    if (length >= wholePage) return undefined
    const bytes = Buffer.alloc(length * sectorBytes)
    bytes.writeUInt16LE(packed.length)
    packed.copy(bytes, 2)
    const start = slots.take(length)
    put(fd, bytes, start * sectorBytes)
    return { start, length }
  }

  function copyTo(newFd: number, to: PageMap, placed: Slots): void {
    for (let page = 0; page < map.count; page += 1) {
      const slot = map.at(page)
      if (!slot) continue
      const bytes = slot.length * sectorBytes
      if (readSync(fd, scratch, 0, bytes, slot.start * sectorBytes) !== bytes) throw damaged()
      const start = placed.take(slot.length)
      put(newFd, scratch.subarray(0, bytes), start * sectorBytes)
      to.set(page, { start, length: slot.length }, (sectors) => placed.take(sectors))
    }
    to.setCount(map.count)
  }

  return {
    get size() {
      return map.count * pageBytes
    },
    read(into, offset, length, position) {
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
      const pages = Math.ceil(size / pageBytes)
      if (pages === 0) return clear()
      const before = map.count
      map.setCount(pages)
      for (let page = pages; page < before; page += 1) {
        const slot = map.at(page)
        map.set(page, undefined, take)
        if (slot) left.push(slot)
        written.delete(page)
      }
    },
    get restingSinceMs() {
      return written.values().next().value
    },
    async compress(writtenBeforeMs, untilMs) {
      let looked = 0
      const moved: { page: number; atMs: number; slot: Slot }[] = []
      for (const [page, atMs] of written) {
        if (atMs >= writtenBeforeMs || (looked > 0 && nowMs() >= untilMs)) break
        looked += 1
        const slot = writeCompressed(page)
        if (slot) moved.push({ page, atMs, slot })
        // It stays as it is until Postgres changes it.
        else written.delete(page)
      }
      if (moved.length === 0 && left.length === 0) return looked
      const begun = generation
      const pointedAway = left
      left = []
      await flushed(fd).catch((error: unknown) => {
        if (!isClosed) throw error
      })
      if (isClosed || generation !== begun) return looked
      for (const slot of pointedAway) slots.give(slot)
      for (const { page, atMs, slot } of moved) {
        const before = map.at(page)
        if (before && written.get(page) === atMs) {
          map.set(page, slot, take)
          left.push(before)
          written.delete(page)
        } else slots.give(slot)
      }
      return looked
    },
    shrink() {
      const free = slots.free + left.reduce((sum, { length }) => sum + length, 0)
      if (free < freeShare * slots.end) return 0
      const [bytesBefore, name] = [slots.end * sectorBytes, `${path}.new`]
      rmSync(name, { force: true })
      const newFd = openFile(name)
      const to = createPageMap(newFd, put)
      const placed = createSlots(to.used(), wholePage)
      try {
        copyTo(newFd, to, placed)
        fdatasyncSync(newFd)
        renameSync(name, path)
      } catch (error) {
        closeSync(newFd)
        throw error
      }
      closeSync(fd)
      ;[fd, map, slots, left] = [newFd, to, placed, []]
      return bytesBefore - slots.end * sectorBytes
    },
    flush: () => fdatasyncSync(fd),
    close() {
      isClosed = true
      closeSync(fd)
    },
  }
}

const flushed = promisify(fdatasync)

function openFile(path: string): number {
  return openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600)
}

function damaged(): Error {
  return unreadable('a page of the embedded ledger cannot be read from its file')
}
