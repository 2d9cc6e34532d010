import {
  existsSync,
  mkdirSync,
  readSync,
  openSync,
  closeSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { join } from 'node:path'
import { pageBytes } from './page-map.ts'
import { openPageFile, type PageFile } from './page-file.ts'

/** The folder of the pages, in that of PGlite. */
const pagesFolder = 'paydirt_pages'
/** A file is kept in pages from this size on. */
const leastBytes = 1024 * 1024
/** Tables and indexes, by the number of their database and their own; the ones of Postgres itself have smaller numbers. */
const relation = /[\\/]base[\\/](\d+)[\\/](\d+)(\.\d+)?$/
const firstOwn = 16_384

/**
 * Knows which files of a PGlite folder are kept in pages. Such a file is empty where Postgres has it, and a file of pages stands in
 * `paydirt_pages` for it. Small files, the log and all else stay as they are.
 *
 * Crash windows:
 * - A file moves into pages while Postgres makes it longer: its pages are written beside, flushed, and count from the moment
 *   at which they have their name. Killed before, the file is whole where it was; killed after, it still has the same pages.
 * - A program of before that opens the ledger after a kill replays Postgres' log before it reads that it must not open it, and
 *   makes the pages that the log has where the file was.
 * - So what a file still has is taken into its pages when it is opened, as far as it is newer, and cut off then.
 * - A dropped file goes before its pages. Pages without a file are removed at the next start, and when Postgres makes
 *   a file of that name.
 */
export interface PagedFiles {
  /** True for the files of our own tables and indexes. */
  mayHave(path: string): boolean
  /** The pages of a file, where it is kept in pages. */
  of(path: string): PageFile | undefined
  /** Moves a file of this size into pages where it is large enough. Does nothing before `begin`. */
  grown(path: string, size: number): PageFile | undefined
  forget(path: string): void
  /** From now on files are moved into pages. */
  begin(): void
  all(): Iterable<PageFile>
  close(): void
}

export function createPagedFiles(
  root: string,
  { nowMs = () => performance.now(), least = leastBytes }: { nowMs?: () => number; least?: number } = {},
): PagedFiles {
  const folder = join(root, pagesFolder)
  const open = new Map<string, PageFile>()
  let isOn = false
  removeOrphans(root, folder)

  /** The file of pages for a path; undefined for what is never kept in pages. */
  function pagesOf(path: string): string | undefined {
    const [, database, number, part = ''] = relation.exec(path) ?? []
    return number !== undefined && Number(number) >= firstOwn
      ? join(folder, `${database}-${number}${part}`)
      : undefined
  }

  function opened(path: string, pages: string): PageFile {
    const file = openPageFile(pages, nowMs)
    open.set(path, file)
    return file
  }

  return {
    mayHave: (path) => pagesOf(path) !== undefined,
    of(path) {
      const known = open.get(path)
      if (known) return known
      const pages = pagesOf(path)
      if (pages === undefined || !existsSync(pages)) return undefined
      const file = opened(path, pages)
      if (statSync(path).size > 0) {
        eachPage(path, (page, at) => {
          if (isNewer(page, file, at)) file.write(page, 0, page.length, at)
        })
        file.flush()
        truncateSync(path)
      }
      return file
    },
    grown(path, size) {
      if (!isOn || size < least) return undefined
      const pages = pagesOf(path)
      if (pages === undefined) return undefined
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      copyPages(path, `${pages}.new`, nowMs)
      renameSync(`${pages}.new`, pages)
      truncateSync(path)
      return opened(path, pages)
    },
    forget(path) {
      open.get(path)?.close()
      open.delete(path)
      const pages = pagesOf(path)
      if (pages !== undefined) rmSync(pages, { force: true })
    },
    begin() {
      isOn = true
    },
    all: () => open.values(),
    close() {
      for (const file of open.values()) file.close()
      open.clear()
    },
  }
}

function copyPages(path: string, to: string, nowMs: () => number): void {
  rmSync(to, { force: true })
  const pages = openPageFile(to, nowMs)
  try {
    eachPage(path, (page, at) => pages.write(page, 0, page.length, at))
    pages.flush()
  } finally {
    pages.close()
  }
}

function eachPage(path: string, take: (page: Buffer, at: number) => void): void {
  const fd = openSync(path, 'r')
  try {
    const page = Buffer.alloc(pageBytes)
    for (let at = 0; readSync(fd, page, 0, pageBytes, at) === pageBytes; at += pageBytes) take(page, at)
  } finally {
    closeSync(fd)
  }
}

/** A page begins with the place in the log of its last change, in two numbers. A page that was never written is all zeros. */
function isNewer(page: Buffer, { size, read }: PageFile, at: number): boolean {
  if (page.readUInt32LE(0) === 0 && page.readUInt32LE(4) === 0) return false
  if (at >= size) return true
  const known = Buffer.alloc(8)
  read(known, 0, 8, at)
  const [high, low] = [
    page.readUInt32LE(0) - known.readUInt32LE(0),
    page.readUInt32LE(4) - known.readUInt32LE(4),
  ]
  return high > 0 || (high === 0 && low > 0)
}

function removeOrphans(root: string, folder: string): void {
  if (!existsSync(folder)) return
  for (const name of readdirSync(folder)) {
    const [database = '', file = ''] = name.split('-')
    if (name.endsWith('.new') || !existsSync(join(root, 'base', database, file)))
      rmSync(join(folder, name), { force: true })
  }
}
