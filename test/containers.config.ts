import { defineConfig } from 'vitest/config'
import { shared } from './support/vitest-shared.ts'

/** The integration tests, on Postgres and Valkey in containers. */
export default defineConfig({
  test: {
    ...shared,
    include: ['test/{integration,slow}/**/*.test.ts'],
    globalSetup: [...shared.globalSetup, './test/support/global-containers.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
