import { slowestFiles } from './slowest-files.ts'

/** What every suite has in common. A test that fails once has failed: nothing is retried. */
export const shared = {
  retry: 0,
  pool: 'forks' as const,
  // Tests wait for processes and timers about as long as they compute: on 2 cores a third worker saves a third of the time.
  maxWorkers: 3,
  testTimeout: 20_000,
  hookTimeout: 30_000,
  reporters: ['default', slowestFiles],
  globalSetup: [
    './test/support/global-seed.ts',
    './test/support/global-scratch.ts',
    './test/support/global-ledger.ts',
  ],
}
