import { defineConfig, mergeConfig } from 'vitest/config'
import all from '../vitest.config.ts'

/** `npm test`: without the files that would make it too long. They take several seconds each, most with processes of their own. */
export default mergeConfig(all, defineConfig({ test: { exclude: ['test/slow/**'] } }))
