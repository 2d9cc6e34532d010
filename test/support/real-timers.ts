import { afterAll, expect, vi } from 'vitest'

/**
 * Files of a worker share its globals. A fake timer that one leaves behind would let the next wait for ever, and not even the time limit
 * of a test would end that. So the next one fails, and says which file it was.
 */
const kept = globalThis as { realSetTimeout?: typeof setTimeout; lastTestFile?: string | undefined }
const real = (kept.realSetTimeout ??= globalThis.setTimeout)

vi.useRealTimers()
if (globalThis.setTimeout !== real) {
  globalThis.setTimeout = real
  throw new Error(`${kept.lastTestFile} has left a fake timer behind`)
}

afterAll(() => {
  kept.lastTestFile = expect.getState().testPath
})
