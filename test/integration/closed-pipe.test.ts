import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { layLedger } from '../support/ledger-template.ts'
import { freshStores } from '../support/stores.ts'

const main = join(import.meta.dirname, '../../src/cli/main.ts')

/** Runs a line of bash in which `paydirt` is this program. Prints what the line prints. */
async function bash(line: string): Promise<{ stdout: string; stderr: string }> {
  const stores = await freshStores()
  onTestFinished(() => stores.cleanup())
  await layLedger(stores.dataDir)
  const script = `paydirt() { "${process.execPath}" "${main}" "$@"; }\n${line}`
  return promisify(execFile)('bash', ['-c', script], {
    cwd: stores.dataDir,
    env: {
      ...process.env,
      PAYDIRT_DATA_DIR: stores.dataDir,
      ...(stores.databaseUrl ? { DATABASE_URL: stores.databaseUrl } : {}),
    },
  })
}

test.each([
  ['help', 'paydirt --help', 0],
  ['a result', 'paydirt runs', 0],
  ['an error', 'paydirt runs no-such-run 2>&1', 2],
])('a reader that leaves early is no error of the command: %s', async (_what, command, status) => {
  const { stdout, stderr } = await bash(`${command} | true; echo "\${PIPESTATUS[0]}"`)
  expect({ stdout, stderr }).toEqual({ stdout: `${status}\n`, stderr: '' })
})

test('output that cannot be written makes the command fail', async () => {
  const { stdout, stderr } = await bash('(paydirt --help > /dev/full); echo $?')
  expect(stdout).toBe('1\n')
  expect(stderr).toMatch(/^paydirt: the output cannot be written: ENOSPC[^\n]*\n$/)
})
