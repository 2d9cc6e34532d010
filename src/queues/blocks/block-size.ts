/** Waiting lookups are spread over at least so many blocks, for as many processes to take. */
const leastBlocks = 16

/**
 * Returns how many lookups a block has; 1 says that each has a job of its own. With little to do, each goes to whichever process is
 * free, and waits for no other.
 */
export function blockSize(waiting: number, largest: number): number {
  return Math.max(1, Math.min(largest, Math.floor(waiting / leastBlocks)))
}

/** A process with few slots is not to hold many lookups beyond them. */
export function largestBlock(concurrency: number): number {
  return Math.max(1, Math.min(16, Math.floor(concurrency / 4)))
}
