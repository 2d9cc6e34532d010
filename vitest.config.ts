import { defineConfig } from 'vitest/config'
import { LongFilesFirst } from './test/support/long-files-first.ts'
import { shared } from './test/support/vitest-shared.ts'

export default defineConfig({
  test: {
    ...shared,
    // Processes and servers that are waited for leave a core idle with two.
    maxWorkers: 3,
    // Files of a worker share its process and modules: to load the libraries for each file took a third of all processor time.
    // So a fixture registers hooks only in a function that its test file calls (test/conformance/rooms.test.ts). All kinds are
    // of one project for the same reason: each project starts workers of its own, which load and compile everything once more.
    isolate: false,
    sequence: { sequencer: LongFilesFirst },
    setupFiles: ['./test/support/real-timers.ts', './test/support/close-idle-ledgers.ts'],
    include: ['src/**/*.test.ts', 'test/{conformance,integration,slow}/**/*.test.ts'],
    // Processes, a chain and a database start inside those of test/integration.
    testTimeout: 180_000,
    hookTimeout: 120_000,
  },
})
