import type { Writable } from 'node:stream'

/**
 * Sends what is written within one turn of the event loop as one write. A group of lookups ends in one turn, and each ends its job
 * by a command of its own: one call of the system then carries a dozen of them, and Redis answers them together.
 */
export function writeOnceATurn(stream: Writable): void {
  const write = stream.write
  let isHeld = false
  const send = () => {
    isHeld = false
    stream.uncork()
  }
  stream.write = ((...chunk: Parameters<typeof write>) => {
    if (!isHeld) {
      isHeld = true
      stream.cork()
      // Called when all promises of this turn have run on.
      process.nextTick(send)
    }
    return write.apply(stream, chunk)
  }) as typeof write
}
