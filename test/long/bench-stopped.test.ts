import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../../scripts/runtime.mjs'

// A benchmark takes minutes: what was measured before Ctrl-C is printed, and neither processes nor files stay behind.
test('bench that is stopped prints what it has and leaves nothing behind', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-stopped-'))
  const bench = spawn(
    process.execPath,
    ['bench/main.ts', 'hook', 'scale', '--json', '--quick', '--stores', 'embedded', '--sizes', '5000'],
    { cwd: root, env: { ...process.env, TMPDIR: folder } },
  )
  let printed = ''
  let told = ''
  bench.stdout.on('data', (data) => (printed += data))
  bench.stderr.on('data', (data) => {
    told += data
    // The first of the two has been measured.
    if (told.includes('hook, ms')) bench.kill('SIGINT')
  })
  const [status] = await once(bench, 'close')
  expect({ status, left: await readdir(folder) }).toEqual({ status: 130, left: [] })
  expect(JSON.parse(printed).results).toHaveProperty('hook')
  await rm(folder, { recursive: true })
})
