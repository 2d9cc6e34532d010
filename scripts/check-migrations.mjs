// `npm run check`: squawk reads the SQL of each migration that is newer than the rules. A released migration is never
// edited, so older ones are not checked. Usage: `node scripts/check-migrations.mjs [first]`, where `first` is the first
// migration to check.

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { dropStatement, indexStatement } from '../src/store/database/migrating/finish-migration.ts'
import { briefLimits } from '../src/store/database/migrating/migrate.ts'
import { migrations } from '../src/store/database/migrating/migrations.ts'
import { isStrict } from '../src/store/database/migrating/schema-state.ts'
import { root } from './runtime.mjs'

const first = process.argv[2] ?? '0012'
const squawk = join(root, 'node_modules', 'squawk-cli', 'js', 'bin', 'squawk')

const refused = migrations
  .filter(({ name }) => name >= first)
  .filter((migration) => !isClean(migration.name, inTransaction(migration)) || !isCleanAfter(migration))
if (refused.length > 0) process.exitCode = 1

/** Since 0039 the limits of a transaction are set in front of each migration. */
function inTransaction({ name, statements }) {
  return isStrict(name) ? statements : `${briefLimits.join(';\n')};\n${statements}`
}

/** Indexes and validations run outside of a transaction, each only while it is found not done (which prefer-robust-stmts asks for). */
function isCleanAfter({ name, indexes = [], drops = [], validates = [] }) {
  const after = [
    ...indexes.map((index) => indexStatement(index, true)),
    ...drops.map((index) => dropStatement(index, true)),
    ...validates.map(({ table, constraint }) => `alter table ${table} validate constraint ${constraint}`),
  ]
  return (
    after.length === 0 ||
    isClean(
      `${name}-after`,
      `set lock_timeout = '3s';\nset statement_timeout = 0;\n${after.join(';\n')};\n`,
      ['--no-assume-in-transaction', '--exclude=prefer-robust-stmts'],
    )
  )
}

function isClean(name, sql, options = []) {
  const { status, error } = spawnSync(
    process.execPath,
    [squawk, ...options, '--stdin-filepath', `src/store/migrations/${name}.ts`],
    { cwd: root, input: sql, stdio: ['pipe', 'inherit', 'inherit'] },
  )
  if (error) throw error
  return status === 0
}
