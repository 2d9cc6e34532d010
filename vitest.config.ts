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
    ],
  },
})
