// `npm run check`: format, lint with the floors, types, unused code, new migrations, the API report, the CRM packages, every command of README,
// docs and help. Every check runs, and the last line names those that failed.

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { root } from './runtime.mjs'

const bin = (...path) => join(root, 'node_modules', ...path)

const checks = [
  {
    name: 'format',
    fix: 'npm run format',
    argv: [bin('prettier', 'bin', 'prettier.cjs'), '--check', '--log-level', 'warn', '.'],
  },
  { name: 'lint', argv: [bin('oxlint', 'bin', 'oxlint'), '--deny-warnings'] },
  { name: 'types', argv: [bin('typescript', 'bin', 'tsc'), '-p', '.'] },
  { name: 'unused', argv: [bin('knip', 'bin', 'knip.js'), '--no-progress'] },
  { name: 'migrations', argv: [join(root, 'scripts', 'check-migrations.mjs')] },
  {
    name: 'api',
    fix: 'node scripts/api-report.mjs --write',
    argv: [join(root, 'scripts', 'api-report.mjs')],
  },
  { name: 'crm', argv: [join(root, 'scripts', 'check-crm.mjs')] },
  {
    name: 'examples',
    argv: [
      bin('vitest', 'vitest.mjs'),
      'run',
      ...['examples', 'tour'].map((name) => `integration/${name}.test.ts`),
    ],
    env: { PAYDIRT_TEST_FULL: '1' },
  },
]

const only = process.argv.slice(2)
const unknown = only.filter((name) => !checks.some((check) => check.name === name))
if (unknown.length > 0) {
  console.error(
    `check: there is no check called ${unknown.join(', ')}; there are ${checks.map((it) => it.name).join(', ')}`,
  )
  process.exit(2)
}

const failed = checks
  .filter(({ name }) => only.length === 0 || only.includes(name))
  .filter(({ name, argv, env }) => {
    const startedAt = Date.now()
    const { status } = spawnSync(process.execPath, argv, {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, ...env },
    })
    console.error(
      `${status === 0 ? 'ok    ' : 'FAILED'} ${name} (${((Date.now() - startedAt) / 1000).toFixed(1)} s)`,
    )
    return status !== 0
  })

if (failed.length > 0) {
  console.error(
    `check failed: ${failed.map(({ name, fix }) => (fix ? `${name} (${fix})` : name)).join(', ')}`,
  )
  process.exitCode = 1
}
