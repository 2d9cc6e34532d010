import { writeSync } from 'node:fs'

export type Put = typeof put

/** Writes all of these bytes. A disk that is full takes a part of them and says so only the next time. */
export function put(fd: number, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length;) {
    const written = writeSync(fd, bytes, done, bytes.length - done, at + done)
    if (written === 0) throw Object.assign(new Error('nothing could be written'), { code: 'ENOSPC' })
    done += written
  }
}

/** PGlite gets it as an error of the disk, and fails the statement. */
export function unreadable(message: string): Error {
  return Object.assign(new Error(message), { code: 'EIO' })
}

/** Undoes what a failed step has begun. The error goes on. */
export function onError<T>(work: () => T, undo: () => void): T {
  try {
    return work()
  } catch (error) {
    undo()
    throw error
  }
}
