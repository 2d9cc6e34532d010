import { defineConfig, mergeConfig } from 'vitest/config'
import short from '../vitest.config.ts'

/** `npm test` and what would make it too long: files that take several seconds each, most of them with processes of their own. */
export default mergeConfig(short, defineConfig({ test: { include: ['test/slow/**/*.test.ts'] } }))
