import { defineConfig } from 'vitest/config'
import { shared } from './support/vitest-shared.ts'

/** Processes are killed and networks cut here, one file after the other. */
export default defineConfig({
  test: {
    ...shared,
    include: ['test/faults/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 120_000,
    passWithNoTests: true,
  },
})
