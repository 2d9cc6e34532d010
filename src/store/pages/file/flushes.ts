import { fdatasync, fdatasyncSync } from 'node:fs'
import { promisify } from 'node:util'
import type { OpenPages } from './open-pages.ts'

/**
 * Waits until a file of pages is on the disk. After a flush that has failed, the system may count as written what is not, and the next
 * one succeeds: so the map is written again before that, and nothing is believed that was written before a failure.
 */
export interface Flushes {
  /** The number of flushes that have failed. */
  readonly failures: number
  now(): void
  soon(): Promise<void>
}

export function createFlushes(open: Pick<OpenPages, 'fd' | 'map'>, onFailure: () => void): Flushes {
  let failures = 0
  let failed = 0

  /** Returns the number of failures that the flush that comes now makes up for. */
  function begin(): number {
    if (failures > failed) open.map.writeAgain()
    return failures
  }

  function end(begun: number): void {
    failed = begun
  }

  function fail(error: unknown): never {
    failures += 1
    onFailure()
    throw error
  }

  return {
    get failures() {
      return failures
    },
    now() {
      try {
        const begun = begin()
        fdatasyncSync(open.fd)
        end(begun)
      } catch (error) {
        fail(error)
      }
    },
    async soon() {
      try {
        const begun = begin()
        await promisify(fdatasync)(open.fd)
        end(begun)
      } catch (error) {
        fail(error)
      }
    },
  }
}
