import { defineConfig } from 'vitest/config'
import { shared } from './test/support/vitest-shared.ts'

export default defineConfig({
  test: {
    ...shared,
    // Processes and servers that are waited for leave a core idle with two.
    maxWorkers: 3,
    // Files of a worker share its process and modules: to load the libraries for each file took a third of all processor time.
    // So a fixture registers hooks only in a function that its test file calls (test/conformance/rooms.test.ts).
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['src/**/*.test.ts'], isolate: false },
      },
      {
        extends: true,
        test: { name: 'conformance', isolate: false, include: ['test/conformance/**/*.test.ts'] },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          isolate: false,
          setupFiles: ['./test/support/close-idle-ledgers.ts'],
          include: ['test/integration/**/*.test.ts'],
          // Processes, a chain and a database start inside these.
          testTimeout: 180_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
})
