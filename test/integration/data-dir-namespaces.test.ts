import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openDatabase } from '../../src/store/database/database.ts'

/** Namespaces of a container's own: process ids, mounts, host name, shared memory, network. A user's too where root is not given. */
const container = [
  ...(process.getuid?.() === 0 ? [] : ['--map-root-user']),
  '--pid',
  '--fork',
  '--mount-proc',
  '--uts',
  '--ipc',
  '--net',
  '--kill-child',
]
const isPermitted = spawnSync('unshare', [...container, 'true']).status === 0

let dir: string
const running: ChildProcess[] = []
beforeEach(async () => void (dir = await mkdtemp(join(tmpdir(), 'paydirt-volume-'))))
afterEach(async () => {
  for (const child of running.splice(0)) if (child.exitCode === null) child.kill('SIGKILL')
  await rm(dir, { recursive: true, force: true })
})

/** Starts a process in a container of its own that takes the data directory. Resolves with the first line it prints. */
async function opensIn(name: string): Promise<{ said: string; child: ChildProcess }> {
  const mountedAt = join(dir, name)
  await mkdir(mountedAt, { recursive: true })
  const source = join(import.meta.dirname, '../../src/store/data-dir/data-dir-lock.ts')
  const program = `
    import { lockDataDir } from ${JSON.stringify(source)}
    await lockDataDir(${JSON.stringify(mountedAt)}).then(
      () => console.log('open as process ' + process.pid),
      (error) => { console.log(error.code + ' ' + error.message); process.exit() })
    setInterval(() => {}, 1000)`
  const script = `mount --bind "$1" "$2" && hostname "$3" && exec "$4" --input-type=module -e "$5"`
  const child = spawn(
    'unshare',
    [...container, 'sh', '-c', script, 'sh', join(dir, 'volume'), mountedAt, name, process.execPath, program],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  running.push(child)
  const [said] = (await once(child.stdout, 'data')) as [Buffer]
  return { said: String(said).trim(), child }
}

/** Signals the process inside: from here it has a number of its own. */
async function signal({ pid }: ChildProcess, name: NodeJS.Signals): Promise<void> {
  const inside = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  process.kill(Number(inside.trim().split(' ')[0]), name)
}

test('of two containers on one volume, one has the embedded ledger until it has surely ended', async (context) => {
  if (!isPermitted) return context.skip('unshare may not make namespaces here: run this as root on Linux')
  await mkdir(join(dir, 'volume'))
  const first = await opensIn('one')
  expect(first.said).toMatch(/^open as process \d$/)

  expect((await opensIn('two')).said).toMatch(/^data_dir_in_use .* on one\) uses /)
  await expect(openDatabase({ dataDir: join(dir, 'volume') })).rejects.toMatchObject({
    code: 'data_dir_in_use',
  })

  // A paused container.
  await signal(first.child, 'SIGSTOP')
  expect((await opensIn('three')).said).toMatch(/^data_dir_in_use /)

  await signal(first.child, 'SIGKILL')
  await once(first.child, 'exit')
  expect((await opensIn('four')).said).toMatch(/^open as process \d$/)
  expect((await opensIn('five')).said).toMatch(/^data_dir_in_use .* on four\) uses /)
})
