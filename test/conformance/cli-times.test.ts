import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { utcMinute } from '../../src/domain/values/utc-minute.ts'

test('a time of day on the command line and in reports bears its zone', async () => {
  expect(utcMinute(new Date('2026-11-22T15:04:59.999Z'))).toBe('2026-11-22 15:04 UTC')
  const bare: string[] = []
  for (const folder of ['src/cli', 'src/app'])
    for (const name of await readdir(folder, { recursive: true })) {
      if (!name.endsWith('.ts')) continue
      const text = await readFile(join(folder, name), 'utf8')
      // A date alone is cut at 10, a month at 7.
      if (/toISOString\(\)\.slice\(0, 1[1-9]\)|toLocale(Time)?String\(\)/.test(text))
        bare.push(join(folder, name))
    }
  expect(bare).toEqual([])
})
