import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('the parser of a ledger takes none of the memory in which V8 optimises it', async () => {
  const [spared, asItIs] = await Promise.all([parsedIn('spared'), parsedIn('as it is')])
  expect(spared).toBeLessThan(250)
  // If this fails, V8 or PGlite has changed, and the module may be left as it is.
  expect(asItIs).toBeGreaterThan(450)
}, 60_000)

async function parsedIn(kind: string): Promise<number> {
  const program = join(import.meta.dirname, 'parsing.fixture.ts')
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', program, kind])
  return Number(stdout)
}
