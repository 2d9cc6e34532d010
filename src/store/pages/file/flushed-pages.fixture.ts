import type { Disk } from './disk.fixture.ts'
import type { PageFile } from './page-file-type.ts'
import { createPageFile, openPageFile } from './page-file.ts'
import { pageBytes } from './page-map.ts'

const zeros = Buffer.alloc(pageBytes)
const scratch = Buffer.alloc(pageBytes)

/** A file of pages on a disk, and its pages as Postgres has written them. */
export interface FlushedPages {
  readonly count: number
  /** All that was found wrong. It is not thrown: the code under test catches what a write throws. */
  readonly faults: string[]
  readonly file: PageFile
  write(page: number, bytes?: Buffer): void
  truncate(pages: number): void
  reopen(): void
  /** Cuts the power now, and looks for what is lost. */
  cutPower(where: string): void
  /** Reads all of it as it is. */
  look(): void
}

/**
 * Postgres repeats what has failed. A page that it has not written since a flush that succeeded must be there after a power cut; any
 * other may have any bytes, and so may one that was not flushed before a flush that failed, until it is written again.
 */
export function createFlushedPages(
  disk: Disk,
  options: { nowMs?: () => number; most?: number } = {},
): FlushedPages {
  const { nowMs = () => 1, most = 1_000 } = options
  const pages: Buffer[] = []
  const faults: string[] = []
  /** The time of the last change of each page that is not flushed. It is infinite during the change, and where it may be lost. */
  const unsure = new Map<number, number>()
  /** A file that was emptied may have the map of before, and what is in its room now. */
  let emptiedAt = 0
  let drops = 0
  disk.watch = {
    flushed(until) {
      if (emptiedAt <= until) emptiedAt = 0
      for (const [page, time] of unsure) if (time <= until) unsure.delete(page)
    },
    dropped(until) {
      drops += 1
      for (const [page, time] of unsure) if (time <= until) unsure.set(page, Infinity)
    },
  }
  disk.drops = 0
  let file = insist(() => createPageFile(disk.path, nowMs, { most }))

  /** Each of so many failures is followed by another try; then the disk is well until it is done. */
  function insist<T>(work: () => T): T {
    const { fails } = disk.watch
    try {
      for (let tries = 0; ; tries += 1) {
        if (tries === 5) delete disk.watch.fails
        try {
          return work()
        } catch (error) {
          if (tries > 5 || !isOfDisk(error)) throw error
        }
      }
    } finally {
      if (fails) disk.watch.fails = fails
    }
  }

  function change(from: number, end: number, work: () => unknown): void {
    const dropsBefore = drops
    for (let page = from; page < end; page += 1) unsure.set(page, Infinity)
    insist(work)
    if (drops === dropsBefore) for (let page = from; page < end; page += 1) unsure.set(page, disk.time)
  }

  function differs(of: PageFile, page: number): string | undefined {
    try {
      if (of.read(scratch, 0, pageBytes, page * pageBytes) !== pageBytes)
        return `page ${page} is behind the end`
    } catch {
      return `page ${page} cannot be read`
    }
    return scratch.equals(pages[page]!) ? undefined : `page ${page} has other bytes`
  }

  function lookAt(of: PageFile, where: string, isSure: (page: number) => boolean): void {
    const found = [...pages.keys()].filter(isSure).flatMap((page) => differs(of, page) ?? [])
    if (found.length > 0) faults.push(`${where}: ${found.join(', ')}`)
  }

  return {
    get count() {
      return pages.length
    },
    faults,
    get file() {
      return file
    },
    write(page, bytes = zeros) {
      const first = Math.min(page, pages.length)
      change(first, page + 1, () => file.write(bytes, 0, pageBytes, page * pageBytes))
      for (let between = pages.length; between < page; between += 1) pages[between] = zeros
      pages[page] = bytes
    },
    truncate(count) {
      if (count === 0) emptiedAt = Infinity
      change(count, pages.length, () => file.truncate(count * pageBytes))
      if (count === 0) emptiedAt = disk.time
      for (let page = count; page < pages.length; page += 1) unsure.delete(page)
      pages.length = Math.min(pages.length, count)
    },
    reopen() {
      file.close()
      file = insist(() => openPageFile(disk.path, nowMs, { most }))
    },
    cutPower(where) {
      disk.cutPower(() => {
        try {
          const left = openPageFile(disk.path, nowMs)
          lookAt(left, where, (page) => !unsure.has(page))
          left.close()
        } catch (error) {
          if (emptiedAt === 0) faults.push(`${where}: it does not open: ${String(error)}`)
        }
      })
    },
    look: () => lookAt(file, 'without a power cut', () => true),
  }
}

/** Does what the disk may fail. */
export async function tried(work: () => unknown): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!isOfDisk(error)) throw error
  }
}

function isOfDisk(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ['ENOSPC', 'EIO'].includes(String(error.code))
}
