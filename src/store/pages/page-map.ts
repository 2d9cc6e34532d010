import { readSync } from 'node:fs'
import { put as putBytes, unreadable, type Put } from './put.ts'
import type { Slot } from './slots.ts'

export const pageBytes = 8_192
export const sectorBytes = 512
/** The sectors of a page that is kept as it is. */
export const wholePage = pageBytes / sectorBytes

const magic = Buffer.from('PDPAGES1')
const countAt = magic.length
const chunksAt = sectorBytes
const header: Slot = { start: 0, length: 2 }
/** Postgres begins a new file after so many pages. */
const mostPages = 131_072
const chunkPages = 1_024
const chunkSectors = (chunkPages * 4) / sectorBytes
const lengthBits = 5

/**
 * Says where each page of a relation stands in its file: the header has the number of pages and the places of the map's chunks,
 * and a chunk four bytes a page, its first sector and its sectors. A page that has no place is all zeros.
 *
 * Crash windows: an entry is written after what it points to, and the number of pages after the entries. A process that is killed in
 * between leaves the page as it was, which Postgres' own log takes from there; entries behind the number of pages count for nothing.
 */
export interface PageMap {
  readonly count: number
  setCount(pages: number): void
  at(page: number): Slot | undefined
  /** `take` gives room for a new chunk. */
  set(page: number, slot: Slot | undefined, take: (sectors: number) => number): void
  /** The slots of the header, the chunks and the pages. */
  used(): Iterable<Slot>
}

export function createPageMap(fd: number, put: Put = putBytes): PageMap {
  const head = Buffer.alloc(header.length * sectorBytes)
  const isNew = readSync(fd, head, 0, head.length, 0) === 0
  if (isNew) {
    magic.copy(head)
    put(fd, head, 0)
  } else if (!head.subarray(0, magic.length).equals(magic))
    throw unreadable('a file of the embedded ledger’s pages has an unknown form')
  let count = head.readUInt32LE(countAt)
  const chunks: (Buffer | undefined)[] = []
  const places = Array.from({ length: mostPages / chunkPages }, (_, index) =>
    head.readUInt32LE(chunksAt + index * 4),
  )
  places.forEach((place, index) => {
    if (place === 0) return
    const chunk = Buffer.alloc(chunkPages * 4)
    readSync(fd, chunk, 0, chunk.length, place * sectorBytes)
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
    chunk.writeUInt32LE(entry, page * 4)
    put(fd, chunk.subarray(page * 4, page * 4 + 4), places[index]! * sectorBytes + page * 4)
  }

  function entryOf(page: number): number {
    return chunks[Math.floor(page / chunkPages)]?.readUInt32LE((page % chunkPages) * 4) ?? 0
  }

  return {
    get count() {
      return count
    },
    setCount(pages) {
      count = pages
      writeNumber(pages, countAt)
    },
    at(page) {
      const entry = entryOf(page)
      return entry === 0 ? undefined : { start: entry >>> lengthBits, length: entry & 31 }
    },
    set(page, slot, take) {
      const index = Math.floor(page / chunkPages)
      let chunk = chunks[index]
      if (!chunk) {
        if (!slot) return
        chunk = chunks[index] = Buffer.alloc(chunkPages * 4)
        places[index] = take(chunkSectors)
        put(fd, chunk, places[index]! * sectorBytes)
        writeNumber(places[index]!, chunksAt + index * 4)
      }
      write(chunk, index, page % chunkPages, slot ? ((slot.start << lengthBits) | slot.length) >>> 0 : 0)
    },
    *used() {
      yield header
      for (const start of places) if (start !== 0) yield { start, length: chunkSectors }
      for (let page = 0; page < count; page += 1) {
        const slot = this.at(page)
        if (slot) yield slot
      }
    },
  }
}
