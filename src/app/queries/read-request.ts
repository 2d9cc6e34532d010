import type { Duplex } from 'node:stream'

const longestRequest = 1_000_000
/** A caller says at once what it asks, or goes. */
const requestWithinMs = 10_000

/** Returns the one line of a request; undefined where the caller only wanted the greeting, or sends something else. */
export function requestOf(socket: Duplex): Promise<string | undefined> {
  return new Promise((resolve) => {
    const parts: Buffer[] = []
    let size = 0
    const timer = setTimeout(() => done(undefined), requestWithinMs).unref()
    function done(line: string | undefined): void {
      clearTimeout(timer)
      // A caller that goes on sending is read to notice its end, and nothing of it is kept.
      socket.off('data', read).resume()
      resolve(line)
    }
    function read(part: Buffer): void {
      parts.push(part)
      size += part.length
      if (size > longestRequest) done(undefined)
      else if (part.includes(10)) done(Buffer.concat(parts).toString())
    }
    socket.on('data', read)
    socket.once('close', () => done(undefined))
  })
}
