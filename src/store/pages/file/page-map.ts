import { readSync } from 'node:fs'
import { onError, put as putBytes, unreadable, type Put } from './put.ts'
import type { Slot, Slots } from './slots.ts'

export const pageBytes = 8_192
export const sectorBytes = 512
/** The sectors of a page that is kept as it is. */
export const wholePage = pageBytes / sectorBytes

const magic = Buffer.from('PDPAGES1')
/** The number of pages, and the same with each bit turned over: a wrong one would cut pages off. */
const countAt = magic.length
const chunksAt = sectorBytes
const header: Slot = { start: 0, length: 2 }
/** Postgres begins a new file after so many pages. */
const mostPages = 131_072
const chunkPages = 1_024
const chunkSectors = (chunkPages * 4) / sectorBytes
const lengthBits = 5
const lengthMask = 31

/**
 * Says where each page of a relation stands in its file: the header has the number of pages and the places of the map's chunks,
 * and a chunk four bytes a page, its first sector and its sectors. A page that has no place is all zeros.
 *
 * Crash windows: an entry is written after what it points to, and the number of pages after the entries. A process that is killed in
 * between leaves the page as it was, which Postgres' own log takes from there; entries behind the number of pages count for nothing.
 * A write that fails, on a disk that is full, leaves the map in memory as it is in the file: what only memory knew would be lost at
 * the next start.
 */
export interface PageMap {
  readonly count: number
  /** No page from this one on has a place: one that was cut off may still have it where that has failed. */
  readonly capacity: number
  setCount(pages: number): void
  at(page: number): Slot | undefined
  /** A new chunk takes its room from `room`. */
  set(page: number, slot: Slot | undefined, room: Pick<Slots, 'take' | 'give'>): void
  /** The slots of the header, the chunks and the pages. */
  used(): Iterable<Slot>
  /** The sector behind all that is used. */
  readonly end: number
  /** The pages that stand at this sector or behind it, the last one first. */
  pagesFrom(start: number): { page: number; slot: Slot }[]
  /** Writes the chunks that stand at this sector or behind it to other places, as far as there are any. */
  moveChunks(start: number, room: ChunkRoom): void
  /** Writes the header and the chunks again, for a disk that may not have them. */
  writeAgain(): void
}

interface ChunkRoom {
  place(length: number): number | undefined
  /** Takes back a place that was not used. */
  give(slot: Slot): void
  /** The header does not point there any more. */
  leave(slot: Slot): void
}

/** Makes it a file without pages. What else it has is free room from now on. */
export function writeEmptyMap(fd: number, put: Put = putBytes): void {
  put(fd, emptyHead(), 0)
}

function emptyHead(): Buffer {
  const head = Buffer.alloc(header.length * sectorBytes)
  magic.copy(head)
  countBytes(0).copy(head, countAt)
  return head
}

export const emptyMapBytes = header.length * sectorBytes

/** `flush` waits until the file is on the disk. */
export function createPageMap(fd: number, put: Put = putBytes, flush: () => void = () => {}): PageMap {
  const head = Buffer.alloc(header.length * sectorBytes)
  if (readSync(fd, head, 0, head.length, 0) !== head.length || !head.subarray(0, magic.length).equals(magic))
    throw unreadable('a file of the embedded ledger’s pages has an unknown form')
  let count = head.readUInt32LE(countAt)
  if (count > mostPages || !head.subarray(countAt, countAt + 8).equals(countBytes(count))) throw damagedMap()
  const chunks: (Buffer | undefined)[] = []
  const places = Array.from({ length: mostPages / chunkPages }, (_, index) =>
    head.readUInt32LE(chunksAt + index * 4),
  )
  places.forEach((place, index) => {
    if (place === 0) return
    const chunk = Buffer.alloc(chunkPages * 4)
    if (readSync(fd, chunk, 0, chunk.length, place * sectorBytes) !== chunk.length) throw damagedMap()
    for (let page = Math.max(0, count - index * chunkPages); page < chunkPages; page += 1)
      if (chunk.readUInt32LE(page * 4) !== 0) write(chunk, index, page, 0)
    chunks[index] = chunk
  })

  function writeNumber(value: number, at: number): void {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32LE(value)
    put(fd, bytes, at)
  }

  function write(chunk: Buffer, index: number, page: number, entry: number): void {
    writeNumber(entry, places[index]! * sectorBytes + page * 4)
    chunk.writeUInt32LE(entry, page * 4)
  }

  /** It is on the disk before the header says where: else that would point to anything, and the file could not be read. */
  function writeChunk(chunk: Buffer, place: number, room: Pick<Slots, 'give'>): void {
    onError(
      () => {
        put(fd, chunk, place * sectorBytes)
        flush()
      },
      () => room.give({ start: place, length: chunkSectors }),
    )
  }

  function entryOf(page: number): number {
    return chunks[Math.floor(page / chunkPages)]?.readUInt32LE((page % chunkPages) * 4) ?? 0
  }

  /** Pages and their entries. */
  function* entries(): Generator<[page: number, entry: number]> {
    for (const [index, chunk] of chunks.entries())
      for (let page = 0; chunk && page < chunkPages; page += 1) {
        const entry = chunk.readUInt32LE(page * 4)
        if (entry !== 0) yield [index * chunkPages + page, entry]
      }
  }

  return {
    get count() {
      return count
    },
    get capacity() {
      return chunks.length * chunkPages
    },
    setCount(pages) {
      put(fd, countBytes(pages), countAt)
      count = pages
    },
    at(page) {
      const entry = entryOf(page)
      return entry === 0 ? undefined : slotOf(entry)
    },
    set(page, slot, room) {
      const index = Math.floor(page / chunkPages)
      let chunk = chunks[index]
      if (!chunk) {
        if (!slot) return
        chunk = Buffer.alloc(chunkPages * 4)
        const place = room.take(chunkSectors)
        writeChunk(chunk, place, room)
        writeNumber(place, chunksAt + index * 4)
        places[index] = place
        chunks[index] = chunk
      }
      write(chunk, index, page % chunkPages, slot ? ((slot.start << lengthBits) | slot.length) >>> 0 : 0)
    },
    *used() {
      yield header
      for (const start of places) if (start !== 0) yield { start, length: chunkSectors }
      for (let page = 0; page < count; page += 1) {
        const slot = this.at(page)
        if (slot && (slot.length === 0 || slot.length > wholePage)) throw damagedMap()
        if (slot) yield slot
      }
    },
    get end() {
      let end = header.start + header.length
      for (const start of places) if (start !== 0) end = Math.max(end, start + chunkSectors)
      for (const [, entry] of entries()) end = Math.max(end, (entry >>> lengthBits) + (entry & lengthMask))
      return end
    },
    pagesFrom(start) {
      const pages: { page: number; slot: Slot }[] = []
      for (const [page, entry] of entries())
        if (entry >>> lengthBits >= start) pages.push({ page, slot: slotOf(entry) })
      return pages.sort((a, b) => b.slot.start - a.slot.start)
    },
    moveChunks(start, { place, give, leave }) {
      for (const [index, chunk] of chunks.entries()) {
        const from = places[index] ?? 0
        const to = chunk && from >= start ? place(chunkSectors) : undefined
        if (!chunk || to === undefined) continue
        writeChunk(chunk, to, { give })
        writeNumber(to, chunksAt + index * 4)
        places[index] = to
        leave({ start: from, length: chunkSectors })
      }
    },
    writeAgain() {
      for (const [index, chunk] of chunks.entries()) if (chunk) put(fd, chunk, places[index]! * sectorBytes)
      const bytes = emptyHead()
      countBytes(count).copy(bytes, countAt)
      for (const [index, place] of places.entries()) bytes.writeUInt32LE(place, chunksAt + index * 4)
      put(fd, bytes, 0)
    },
  }
}

function slotOf(entry: number): Slot {
  return { start: entry >>> lengthBits, length: entry & lengthMask }
}

function countBytes(count: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt32LE(count)
  bytes.writeUInt32LE(~count >>> 0, 4)
  return bytes
}

function damagedMap(): Error {
  return unreadable('the map of a file of the embedded ledger’s pages is damaged')
}

/** The map has no room for more. */
export function assertMay(page: number): void {
  if (page >= mostPages) throw Object.assign(new Error('a file has no such page'), { code: 'EFBIG' })
}
