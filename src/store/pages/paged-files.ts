import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { flushFolder, isThere, removeIfCan } from './folders.ts'
import { copyPages, eachPage, isNewer } from './page-copies.ts'
import type { PageFile } from './file/page-file-type.ts'
import { openPageFile } from './file/page-file.ts'
import { pageBytes } from './file/page-map.ts'
import { hasNote, leaveNote, note } from './page-notes.ts'
import { unreadable } from './file/put.ts'

/** The folder of the pages, in that of PGlite. */
const pagesFolder = 'paydirt_pages'
/** A file is kept in pages from this size on. */
const leastBytes = 1024 * 1024
/** Tables and indexes, by the number of their database and their own; the ones of Postgres itself have smaller numbers. */
const relation = /[\\/]base[\\/](\d+)[\\/](\d+)(\.\d+)?$/
const firstOwn = 16_384
/** A file that could not be moved, on a disk that is full, is copied again after so long. */
const triesAgainAfterMs = 60_000

/**
 * Knows which files of a PGlite folder are kept in pages. Such a file has a note where Postgres has it, and a file of pages stands in
 * `paydirt_pages` for it. Small files, the log and all else stay as they are. A file with a note and without pages is unreadable:
 * taken to be empty, it would lose a table without a word.
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
  let triesFromMs = -Infinity
  removeOrphans(root, folder)

  /** The file of pages for a path; undefined for what is never kept in pages. */
  function pagesOf(path: string): string | undefined {
    const [, database, number, part = ''] = relation.exec(path) ?? []
    return number !== undefined && Number(number) >= firstOwn
      ? join(folder, `${database}-${number}${part}`)
      : undefined
  }

  /** Takes in the pages that a killed process or an older program has left in the file. */
  function takeIn(path: string, file: PageFile): void {
    const { size } = statSync(path)
    if (size >= pageBytes) {
      eachPage(path, (page, at) => {
        if (isNewer(page, file, at)) file.write(page, 0, page.length, at)
      })
      file.flush()
    }
    if (size !== note.length) leaveNote(path)
  }

  function move(path: string, pages: string): PageFile | undefined {
    const draft = `${pages}.new`
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      copyPages(path, draft, nowMs)
      renameSync(draft, pages)
      // The file is cut off next: after a power cut without its pages' name, it would be lost.
      for (const changed of [folder, root]) flushFolder(changed)
      return openPageFile(pages, nowMs)
    } catch {
      // The pages that were written are in the file, and stay there.
      for (const made of [draft, pages]) removeIfCan(made)
      triesFromMs = nowMs() + triesAgainAfterMs
      return undefined
    }
  }

  return {
    mayHave: (path) => pagesOf(path) !== undefined,
    of(path) {
      const known = open.get(path)
      if (known) return known
      const pages = pagesOf(path)
      if (pages === undefined) return undefined
      if (!isThere(pages)) {
        if (hasNote(path)) throw unreadable('a file of the embedded ledger’s pages is missing')
        return undefined
      }
      const file = openPageFile(pages, nowMs)
      try {
        takeIn(path, file)
      } catch (error) {
        file.close()
        throw error
      }
      open.set(path, file)
      return file
    },
    grown(path, size) {
      if (!isOn || size < least || nowMs() < triesFromMs) return undefined
      const pages = pagesOf(path)
      const file = pages === undefined ? undefined : move(path, pages)
      if (!file) return undefined
      open.set(path, file)
      leaveNote(path)
      return file
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

function removeOrphans(root: string, folder: string): void {
  if (!isThere(folder) || !isThere(join(root, 'base'))) return
  for (const name of readdirSync(folder)) {
    const [database = '', file = ''] = name.split('-')
    if (name.endsWith('.new') || !isThere(join(root, 'base', database, file)))
      rmSync(join(folder, name), { force: true })
  }
}
