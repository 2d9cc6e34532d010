import { dirname, join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { filesUsingStores } from './support/store-users.ts'
import { shared } from './support/vitest-shared.ts'

/** The tests that keep data, for the servers of DATABASE_URL and REDIS_URL. Any other test is the same on both. */
export default defineConfig({
  test: {
    ...shared,
    isolate: false,
    setupFiles: ['real-timers.ts', 'close-idle-ledgers.ts'].map((name) =>
      join(import.meta.dirname, 'support', name),
    ),
    include: filesUsingStores(dirname(import.meta.dirname), [
      'test/conformance',
      'test/integration',
      'test/slow',
    ]),
    testTimeout: 180_000,
    hookTimeout: 120_000,
  },
})
