import { readFileSync } from 'node:fs'
import { readFile, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../../domain/error-codes.ts'
import { ConfigError } from '../../domain/errors.ts'
import { takeOsLock } from './os-lock.ts'
import { createOwnerFile, ownerText, readOwner, runsHere, type Owner } from './owner-record.ts'
import { whereaboutsOf, type Whereabouts } from './whereabouts.ts'

export interface DataDirLock {
  /**
   * Throws ConfigError when another process has taken the directory, as after a person has deleted the owner's file while this
   * process was suspended. Called before each use of the database; looks at most every two seconds.
   */
  assertHeld(): void
  release(): Promise<void>
}

const verifyEveryMs = 2_000
const beatMs = 5_000
/** The time a silent owner is watched where locks may not reach it. */
const watchMs = 3 * beatMs

/**
 * Locks a data directory for this process. PGlite has no lock of its own, and two processes on one directory would destroy it
 * and pay twice. Throws ConfigError when another process holds the lock, or may hold it.
 *
 * Two things protect the directory: a lock of the operating system on the file `lock`, and the file `owner`, which says who
 * has it. Each end leaves this behind:
 *
 * - ended properly: no `owner`. The next process begins at once.
 * - killed: `owner` is left, and the kernel has released the lock. A process that gets the lock on the same kernel (the
 *   same boot id, in any container) knows that the owner is dead. So does one that gets it after a restart of the machine,
 *   where both have seen a local file system: only one kernel at a time can have that mounted.
 * - suspended (SIGSTOP, a paused container, a sleeping machine): the kernel keeps the lock. No time is too long, and no clock
 *   is asked.
 * - on another machine that shares the file system: its locks may not reach us. Its `owner` is never taken over; a person
 *   who knows that it has ended deletes the file. Should the machine wake up after all, its process finds another owner
 *   before it uses the database again (`assertHeld`), and stops.
 */
export async function lockDataDir(dataDir: string, here?: Whereabouts): Promise<DataDirLock> {
  const where = here ?? (await whereaboutsOf(dataDir))
  const file = join(dataDir, 'owner')
  const lockPath = join(dataDir, 'lock')
  const osLock = await takeOsLock(lockPath)
  if (!osLock) throw inUse(dataDir, readOwner(await readFile(file, 'utf8').catch(() => '')))
  try {
    const lockFile = String((await stat(lockPath)).ino)
    const mine = await ownerText(where, lockFile)
    // Crash window: killed after the removal, the directory has no owner, which is true.
    if (!(await createOwnerFile(file, mine))) {
      await assertDead(dataDir, file, { where, lockFile })
      await rm(file, { force: true })
      if (!(await createOwnerFile(file, mine))) {
        throw inUse(dataDir, readOwner(await readFile(file, 'utf8').catch(() => '')))
      }
    }
    return hold(dataDir, file, mine, osLock)
  } catch (error) {
    osLock.release()
    throw error
  }
}

function hold(dataDir: string, file: string, mine: string, osLock: { release(): void }): DataDirLock {
  let verifiedAt = { wallMs: Date.now(), monotonicMs: performance.now() }
  const isMine = () => {
    try {
      return readFileSync(file, 'utf8') === mine
    } catch {
      return false
    }
  }
  // Only shows others on a shared file system that this process lives.
  const beat = setInterval(() => {
    const now = new Date()
    if (isMine()) utimes(file, now, now).catch(() => {})
  }, beatMs)
  beat.unref()

  return {
    assertHeld() {
      const wallMs = Date.now()
      const monotonicMs = performance.now()
      // The wall clock may jump either way, and the monotonic clock stands still while the machine sleeps.
      const passedMs = Math.max(Math.abs(wallMs - verifiedAt.wallMs), monotonicMs - verifiedAt.monotonicMs)
      if (passedMs < verifyEveryMs) return
      if (!isMine()) {
        throw new ConfigError(
          'data_dir_lost',
          `${dataDir} belongs to another process now, or ${file} was deleted. This process stops: what it has begun is continued by the other`,
        )
      }
      verifiedAt = { wallMs, monotonicMs }
    },
    async release() {
      clearInterval(beat)
      if (isMine()) await rm(file, { force: true })
      osLock.release()
    },
  }
}

/** Called by who has the lock of the operating system. Throws ConfigError unless the owner that is named has surely ended. */
async function assertDead(
  dataDir: string,
  file: string,
  { where, lockFile }: { where: Whereabouts; lockFile: string },
): Promise<void> {
  const owner = readOwner(await readFile(file, 'utf8').catch(() => ''))
  switch (owner.kind) {
    case 'old':
      if (await runsHere(owner.pid, owner.started)) throw inUse(dataDir, owner)
      // Its number says nothing where processes have numbers of their own in each container.
      if (process.platform === 'linux') throw unsure(file, owner, await lastSeen(file))
      return
    case 'unreadable':
      if (where.fileSystem === 'shared') throw unsure(file, owner, await lastSeen(file))
      return
    case 'known': {
      const isSameKernel = owner.boot === where.boot && owner.lockFile === lockFile
      const isBefore =
        owner.boot !== where.boot && owner.fileSystem === 'local' && where.fileSystem === 'local'
      if (!isSameKernel && !isBefore) throw unsure(file, owner, await lastSeen(file))
      // A network file system that is mounted twice without locks: the owner would show itself.
      if (where.fileSystem === 'shared' && (await isBeating(file))) throw inUse(dataDir, owner)
    }
  }
}

async function isBeating(file: string): Promise<boolean> {
  const before = await lastSeen(file)
  await new Promise((resolve) => setTimeout(resolve, watchMs))
  return (await lastSeen(file)) !== before
}

async function lastSeen(file: string): Promise<string> {
  return stat(file).then(
    ({ mtime }) => mtime.toISOString(),
    () => 'unknown',
  )
}

function inUse(dataDir: string, owner: Owner): ConfigError {
  return new ConfigError(
    errorCode.dataDirInUse,
    `another paydirt process (${nameOf(owner)}) uses ${dataDir}. Wait for it or stop it; to run several at once, set DATABASE_URL and REDIS_URL`,
  )
}

function unsure(file: string, owner: Owner, seen: string): ConfigError {
  return new ConfigError(
    errorCode.dataDirOwnerUnknown,
    `${file} names a process (${nameOf(owner)}) that cannot be seen from here; it was last active at ${seen}. If it has surely ended, delete that file and start again. If it may still run, do not: two processes would pay twice. To run on several machines, set DATABASE_URL and REDIS_URL`,
  )
}

function nameOf(owner: Owner): string {
  if (owner.kind === 'unreadable') return 'unknown'
  return owner.kind === 'old' ? owner.pid : `${owner.pid} on ${owner.host}`
}
