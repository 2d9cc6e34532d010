import { defineConfig } from 'vitest/config'
import { shared } from './support/vitest-shared.ts'

/**
 * The tests that `npm run judge` records: the connector's conformance suite, writes and scans, a sync with its undo, a button and a
 * workflow. Tests that send the stand-in something wrong on purpose are not among them.
 */
export default defineConfig({
  test: {
    ...shared,
    include: [
      'test/conformance/connectors/hubspot.test.ts',
      'test/{integration,slow}/{explain,hubspot-limits,hubspot-making,hubspot-required,hubspot-scan,hubspot-write,http-hubspot-hooks,lists-people,merged-records,signals-writing,sync,undo}.test.ts',
    ],
    setupFiles: ['./test/support/record-exchanges.ts'],
    testTimeout: 180_000,
    hookTimeout: 120_000,
  },
})
