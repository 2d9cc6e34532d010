import { defineConfig } from 'vitest/config'
import { shared } from './support/vitest-shared.ts'

/**
 * Tests of operations: upgrades, restores, fail-overs, images. They start servers of the system's own packages, and each file
 * says which; a file whose programs are missing is skipped with their names. One file after the other.
 */
export default defineConfig({
  test: {
    ...shared,
    include: ['test/ops/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 900_000,
    hookTimeout: 300_000,
  },
})
