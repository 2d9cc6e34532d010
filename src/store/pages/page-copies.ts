import { closeSync, openSync, readSync } from 'node:fs'
import type { PageFile } from './file/page-file-type.ts'
import { createPageFile } from './file/page-file.ts'
import { pageBytes } from './file/page-map.ts'
import { note } from './page-notes.ts'

export function copyPages(path: string, to: string, nowMs: () => number): void {
  const pages = createPageFile(to, nowMs)
  try {
    eachPage(path, (page, at) => pages.write(page, 0, page.length, at))
    pages.flush()
  } finally {
    pages.close()
  }
}

export function eachPage(path: string, take: (page: Buffer, at: number) => void): void {
  const fd = openSync(path, 'r')
  try {
    const page = Buffer.alloc(pageBytes)
    for (let at = 0; readSync(fd, page, 0, pageBytes, at) === pageBytes; at += pageBytes) take(page, at)
  } finally {
    closeSync(fd)
  }
}

/** A page begins with the place in the log of its last change, in two numbers. A page that was never written is all zeros. */
export function isNewer(page: Buffer, { size, read }: PageFile, at: number): boolean {
  const isNote = page.subarray(0, note.length).equals(note)
  if (isNote || (page.readUInt32LE(0) === 0 && page.readUInt32LE(4) === 0)) return false
  if (at >= size) return true
  const known = Buffer.alloc(8)
  read(known, 0, 8, at)
  const [high, low] = [
    page.readUInt32LE(0) - known.readUInt32LE(0),
    page.readUInt32LE(4) - known.readUInt32LE(4),
  ]
  return high > 0 || (high === 0 && low > 0)
}
