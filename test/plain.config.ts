import { dirname } from 'node:path'
import { configDefaults, defineConfig, mergeConfig } from 'vitest/config'
import all from '../vitest.config.ts'
import { filesUsingStores } from './support/store-users.ts'

/** The tests that keep no data: they are the same on any stores, so that one run of them at full size is enough. */
export default mergeConfig(
  all,
  defineConfig({
    test: {
      exclude: [
        ...configDefaults.exclude,
        ...filesUsingStores(dirname(import.meta.dirname), [
          'test/conformance',
          'test/integration',
          'test/slow',
        ]),
      ],
    },
  }),
)
