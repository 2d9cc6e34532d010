import { slowestFiles } from './slowest-files.ts'

/** The settings that every suite has in common. A test that fails once has failed: nothing is retried. */
export const shared = {
  retry: 0,
  pool: 'forks' as const,
  // A config file imports it, wherever it is; outside of tests the loader of config files does the same.
  alias: { paydirt: new URL('../../src/app/index.ts', import.meta.url).pathname },
  // Integration tests start processes of their own; on real servers and in the fault suite more workers only make them wait.
  maxWorkers: 2,
  testTimeout: 20_000,
  hookTimeout: 30_000,
  reporters: ['default', slowestFiles],
  globalSetup: [
    './test/support/global-seed.ts',
    './test/support/global-scratch.ts',
    './test/support/global-ledger.ts',
  ],
}
