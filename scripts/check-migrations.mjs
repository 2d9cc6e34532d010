// `npm run check`: squawk reads the SQL of each migration that is newer than the rules. A released migration is never
// edited, so older ones are not checked. Usage: `node scripts/check-migrations.mjs [first]`, where `first` is the first
// migration to check.

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { migrations } from '../src/store/database/migrate.ts'
import { root } from './runtime.mjs'

const first = process.argv[2] ?? '0012'
const squawk = join(root, 'node_modules', 'squawk-cli', 'js', 'bin', 'squawk')

const refused = migrations
  .filter(({ name }) => name >= first)
  .filter(({ name, statements }) => {
    const { status, error } = spawnSync(
      process.execPath,
      [squawk, '--stdin-filepath', `src/store/migrations/${name}.ts`],
      { cwd: root, input: statements, stdio: ['pipe', 'inherit', 'inherit'] },
    )
    if (error) throw error
    return status !== 0
  })
if (refused.length > 0) process.exitCode = 1
