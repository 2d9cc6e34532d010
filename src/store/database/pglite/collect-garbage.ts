import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Frees what nobody refers to any more, at once. V8 does it when its own heap has grown; the memory of WebAssembly is not part of that,
 * and 200 MB of it may lie there for a minute.
 */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  try {
    const collect: unknown = runInNewContext('globalThis.gc')
    if (typeof collect === 'function') collect()
  } finally {
    setFlagsFromString('--no-expose-gc')
  }
}
