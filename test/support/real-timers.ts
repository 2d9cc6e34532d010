import { afterAll, expect, vi } from 'vitest'

/**
 * Files of a worker share its globals. A file that leaves fake timers behind would let the next one wait for ever, and not even its
 * time limit would end that: the timers are set back, and the file is named.
 */
const names = [
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'setImmediate',
  'clearImmediate',
] as const
const kept = globalThis as { realTimers?: Partial<typeof globalThis> }
const real = (kept.realTimers ??= Object.fromEntries(names.map((name) => [name, globalThis[name]])))

afterAll(() => {
  vi.useRealTimers()
  if (globalThis.setTimeout === real.setTimeout) return
  Object.assign(globalThis, real)
  process.stderr.write(`${expect.getState().testPath} has left fake timers behind\n`)
})
