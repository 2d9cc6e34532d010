import { join } from 'node:path'

/** The longest path that a socket can have on every system (macOS has the shortest). */
const longestPath = 103

/** Returns where the holder of an embedded ledger is asked; undefined where the path is too long for a socket. */
export function socketPath(dataDir: string): string | undefined {
  const path = join(dataDir, 'queries.sock')
  return Buffer.byteLength(draftPath(path)) <= longestPath ? path : undefined
}

/** Returns the path at which a socket is made before it takes its place. */
export function draftPath(path: string): string {
  return `${path}.new`
}
