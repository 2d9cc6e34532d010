import { defineConfig } from 'vitest/config'
import { shared } from './support/vitest-shared.ts'

/** Large files, long waits and crowds: too long for every run of `npm test`. One file after the other. */
export default defineConfig({
  test: {
    ...shared,
    include: ['test/long/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 120_000,
  },
})
