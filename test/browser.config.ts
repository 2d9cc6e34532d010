import { defineConfig } from 'vitest/config'
import { shared } from './support/vitest-shared.ts'

/** Needs a Chromium on this machine, and says so where there is none. */
export default defineConfig({
  test: {
    ...shared,
    include: ['test/browser/**/*.test.ts'],
    testTimeout: 240_000,
    hookTimeout: 120_000,
  },
})
