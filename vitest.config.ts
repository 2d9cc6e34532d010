import { defineConfig } from 'vitest/config'
import { shared } from './test/support/vitest-shared.ts'

export default defineConfig({
  test: {
    ...shared,
    projects: [
      { extends: true, test: { name: 'unit', include: ['src/**/*.test.ts'] } },
      { extends: true, test: { name: 'conformance', include: ['test/conformance/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          // Processes, a chain and a database start inside these.
          testTimeout: 180_000,
          hookTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          // Needs a Chromium on this machine, and says so where there is none.
          include: ['test/browser/**/*.test.ts'],
          // By itself, when all others are done: it holds what takes a second to a second.
          sequence: { groupOrder: 1 },
          testTimeout: 240_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
})
