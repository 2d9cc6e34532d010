#!/usr/bin/env node
import { join } from 'node:path'
import { leanFlags, root, runPinned } from '../scripts/runtime.mjs'

await runPinned(join(root, 'src/cli/main.ts'), process.argv.slice(2), {
  dev: false,
  flags: leanFlags,
})
