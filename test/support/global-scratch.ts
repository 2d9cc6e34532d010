import { statfsSync } from 'node:fs'
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'

const variable = 'PAYDIRT_TEST_SCRATCH'
const inMemory = '/dev/shm'
const prefix = 'paydirt-tests-'
const GiB = 1024 ** 3
/** Two workers with a few ledgers and CSV files each need less than one; a container often gives /dev/shm only 64 MB. */
const neededBytes = 3 * GiB

/**
 * Gives a run one directory for everything temporary, in memory where the machine has room there, and removes it at the
 * end. Tests copy thousands of small files; on a virtual disk that takes several times as long as the tests themselves.
 * Each project calls this; the first call of a run does the work.
 */
export default async function useScratchFolder(): Promise<() => Promise<void>> {
  if (process.env[variable] !== undefined) return async () => {}
  const before = process.env['TMPDIR']
  const parent = before === undefined && hasRoom(inMemory) ? inMemory : tmpdir()
  await removeLeftovers(parent)
  const folder = await mkdtemp(join(parent, `${prefix}${process.pid}-`))
  // A test's Postgres runs as another user when the tests run as root, and its data directory is in here.
  await chmod(folder, 0o711)
  process.env[variable] = folder
  process.env['TMPDIR'] = folder
  // The code that one process has compiled is loaded by the next: test workers and commands use the same large libraries.
  process.env['NODE_COMPILE_CACHE'] ??= join(folder, 'compile-cache')
  return async () => {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
    // A process that is just ending may still write its compile cache; what stays is removed by the next run.
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }).catch(() => {})
  }
}

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize > neededBytes && freemem() > 2 * neededBytes
  } catch {
    return false
  }
}

/** A run that was killed could not remove its directory. */
async function removeLeftovers(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const pid = Number(new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1])
    if (pid > 0 && !isAlive(pid)) await rm(join(parent, name), { recursive: true, force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
