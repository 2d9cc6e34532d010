import { slowestFiles } from './slowest-files.ts'

/** The settings that every suite has in common. A test that fails once has failed: nothing is retried. */
export const shared = {
  retry: 0,
  // Tests of what a terminal is shown must not depend on the one that they are started in.
  env: { TERM: 'xterm-256color' },
  pool: 'forks' as const,
  // Each embedded database brings 130 MB of memory from outside of V8's heap. By default V8 answers each with a collection of
  // everything that stops the program, a fifth of all processor time; with the flag that memory counts as the heap's own does.
  execArgv: ['--external-memory-accounted-in-global-limit'],
  // A config file imports it, wherever it is; outside of tests the loader of config files does the same.
  alias: { paydirt: new URL('../../src/library/index.ts', import.meta.url).pathname },
  // Integration tests start processes of their own; on real servers and in the fault suite more workers only make them wait.
  maxWorkers: 2,
  testTimeout: 180_000,
  hookTimeout: 30_000,
  reporters: ['default', slowestFiles],
  globalSetup: [
    './test/support/global-seed.ts',
    './test/support/global-scratch.ts',
    './test/support/global-ledger.ts',
  ],
}
