import { defineConfig } from 'vitest/config'
import { shared } from './support/vitest-shared.ts'

/** Processes are killed and networks cut here, one file after the other. */
export default defineConfig({
  test: {
    ...shared,
    globalSetup: [...shared.globalSetup, './test/support/global-servers.ts'],
    include: ['test/faults/**/*.test.ts'],
    fileParallelism: false,
    // Most of a fault's time is waiting for a lock or a grace to run out; each has a sandbox of its own.
    maxConcurrency: 6,
    testTimeout: 300_000,
    hookTimeout: 120_000,
  },
})
