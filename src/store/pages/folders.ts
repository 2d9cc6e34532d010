import { closeSync, fsyncSync, openSync, rmSync, statSync } from 'node:fs'

/** Throws where it cannot be known: taken not to be there, a file would be taken for empty. */
export function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined
}

export function removeIfCan(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // A draft is removed at the next start, and counts for nothing until then.
  }
}

/** A system that has no such thing keeps the order by its own log. */
export function flushFolder(path: string): void {
  let fd: number | undefined
  try {
    fd = openSync(path, 'r')
    fsyncSync(fd)
  } catch {
    // Windows opens no folder.
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}
