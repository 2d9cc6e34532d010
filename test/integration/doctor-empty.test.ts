import { join } from 'node:path'
import { expect, test } from 'vitest'
import { resolveConfig } from '../../src/app/config/config.ts'
import { readEnvironment } from '../../src/app/config/environment.ts'
import { examine } from '../../src/app/ops/doctor.ts'
import type { Finding } from '../../src/app/ops/finding.ts'
import { freshStores } from '../support/stores.ts'

/** Returns what the doctor says of a ledger that nothing has written to. */
async function diagnose(env: Record<string, string>): Promise<Finding[]> {
  const stores = await freshStores()
  try {
    const dataDir = join(stores.dataDir, 'data')
    const config = resolveConfig(readEnvironment({ PAYDIRT_DATA_DIR: dataDir, ...env }), {})
    const findings: Finding[] = []
    for await (const finding of examine(config)) if (finding.name === 'database') findings.push(finding)
    return findings
  } finally {
    await stores.cleanup()
  }
}

const message = 'the database is empty: the first command that writes makes its tables'

test('the doctor asks for nothing where the first command makes the tables', async () => {
  expect(await diagnose({})).toEqual([{ name: 'database', status: 'ok', message }])
})

test('the doctor names the command where another process has to make them', async () => {
  expect(await diagnose({ PAYDIRT_MIGRATE: 'wait' })).toEqual([
    { name: 'database', status: 'warning', message, todo: expect.stringContaining('paydirt migrate') },
  ])
})
