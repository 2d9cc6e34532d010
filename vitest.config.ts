import { defineConfig } from 'vitest/config'
import { shared } from './test/support/vitest-shared.ts'

export default defineConfig({
  test: {
    ...shared,
    projects: [
      {
        extends: true,
        // Units change nothing global: starting a process and loading the libraries for each of them took longer than they do.
        test: { name: 'unit', include: ['src/**/*.test.ts'], isolate: false },
      },
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
