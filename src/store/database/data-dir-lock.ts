import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../../domain/error-codes.ts'
import { ConfigError } from '../../domain/errors.ts'

/**
 * Locks a data directory for this process. PGlite has no lock of its own, and two processes on one directory would destroy
 * it. A file holds the owner's process id and start time, so that a process id that was reused after a crash does not keep
 * the directory locked. Throws ConfigError when another process holds the lock.
 */
export async function lockDataDir(dataDir: string): Promise<{ release(): Promise<void> }> {
  const file = join(dataDir, 'owner')
  const mine = `${process.pid} ${(await startTime(process.pid)) ?? ''}`
  for (let tries = 0; tries < 3; tries += 1) {
    try {
      await writeFile(file, mine, { flag: 'wx', mode: 0o600 })
      return {
        async release() {
          if ((await readFile(file, 'utf8').catch(() => '')) === mine) await rm(file, { force: true })
        },
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      const owner = await readFile(file, 'utf8').catch(() => '')
      if (owner !== mine && (await isAlive(owner))) throw inUse(dataDir, owner)
      await rm(file, { force: true })
    }
  }
  throw inUse(dataDir, 'unknown')
}

function inUse(dataDir: string, owner: string): ConfigError {
  return new ConfigError(
    errorCode.dataDirInUse,
    `another paydirt process (${owner.split(' ')[0]}) uses ${dataDir}. Wait for it or stop it; to run several at once, set DATABASE_URL and REDIS_URL`,
  )
}

async function isAlive(owner: string): Promise<boolean> {
  const [pid = '', started = ''] = owner.split(' ')
  if (!/^\d+$/.test(pid)) return false
  try {
    process.kill(Number(pid), 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  const now = await startTime(Number(pid))
  return started === '' || now === undefined || now === started
}

/** Returns field 22 of /proc/PID/stat; undefined where there is no /proc. */
async function startTime(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
}
