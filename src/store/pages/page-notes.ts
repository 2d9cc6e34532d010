import { closeSync, openSync, readSync, statSync, truncateSync, writeFileSync } from 'node:fs'

/** The content of a file that is kept in pages: less than a page, so that an older program takes it to be empty. */
export const note = Buffer.from('PDPAGED1: the pages of this file are in paydirt_pages\n')

export function leaveNote(path: string): void {
  try {
    truncateSync(path)
    writeFileSync(path, note)
  } catch {
    // The pages count from now on. What the file still has is older than they, and is cut off at the next start.
  }
}

export function hasNote(path: string): boolean {
  // One that was removed while it is open has no name.
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) < note.length) return false
  const fd = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(note.length)
    readSync(fd, bytes, 0, bytes.length, 0)
    return bytes.equals(note)
  } finally {
    closeSync(fd)
  }
}
