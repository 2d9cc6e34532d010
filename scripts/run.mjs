// `node scripts/run.mjs <target> [args]`: the scripts of package.json call this file. See runtime.mjs.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pinnedNode, root, runPinned } from './runtime.mjs'

const vitest = join('node_modules', 'vitest', 'vitest.mjs')

const targets = {
  demo: ['src/cli/main.ts', 'demo'],
  test: [vitest, 'run', '--config', 'test/short.config.ts'],
  'test:all': [vitest, 'run'],
  'test:containers': [vitest, 'run', '--config', 'test/containers.config.ts'],
  'test:browser': [vitest, 'run', '--config', 'test/browser.config.ts'],
  'test:long': [vitest, 'run', '--config', 'test/long.config.ts'],
  'test:faults': [vitest, 'run', '--config', 'test/faults.config.ts'],
  'test:ops': [vitest, 'run', '--config', 'test/ops.config.ts'],
  vitest: [vitest],
  check: ['scripts/check.mjs'],
  format: [join('node_modules', 'prettier', 'bin', 'prettier.cjs'), '--write', '--log-level', 'warn', '.'],
  build: ['scripts/build.mjs'],
  licences: ['scripts/licences.mjs'],
  release: ['scripts/release.mjs'],
  configuration: ['scripts/configuration/main.ts'],
  tour: ['scripts/tour/main.ts'],
  mutants: ['scripts/mutants/main.ts'],
  bench: ['bench/main.ts'],
  judge: ['scripts/judge/main.mjs'],
}

const [target, ...args] = process.argv.slice(2)
if (target === 'install') {
  pinnedNode()
} else if (!target || !Object.hasOwn(targets, target)) {
  console.error(`usage: node scripts/run.mjs install|${Object.keys(targets).join('|')} [args]`)
  process.exitCode = 2
} else {
  const [file, ...fixed] = targets[target]
  pinnedNode()
  if (!existsSync(join(root, file))) {
    console.error(`paydirt: ${file} does not exist`)
    process.exit(2)
  }
  await runPinned(join(root, file), [...fixed, ...args], { cwd: root })
}
