import { chmod, writeFile } from 'node:fs/promises'
import type { DatabaseSync } from 'node:sqlite'
import { describeError, ConfigError } from '../../domain/errors.ts'

/**
 * Locks a file by the operating system until `release` or the end of the process, however it ends. Returns undefined when
 * another process holds the lock. The kernel keeps such locks by file and not by process id, so they hold between containers
 * that share a volume. Throws ConfigError where the file system has no locks.
 *
 * Node has no call for them. SQLite, which is part of Node, takes a write lock on its file (`fcntl`, on Windows `LockFileEx`)
 * for the length of an exclusive transaction; this one never ends and never writes. Nothing else in this process may open
 * the file: closing any handle of it would drop the lock.
 */
export async function takeOsLock(file: string): Promise<{ release(): void } | undefined> {
  const { DatabaseSync } = await import('node:sqlite')
  // Before SQLite opens it, because the journal beside it takes the file's mode. An existing file is changed by path: another
  // handle of it would be one too many.
  await writeFile(file, '', { flag: 'wx', mode: 0o600 }).catch(() => {})
  await chmod(file, 0o600).catch(() => {})
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(file, { timeout: 0 })
    database.exec('pragma journal_mode = off; begin exclusive')
  } catch (error) {
    database?.close()
    if (isBusy(error)) return undefined
    throw new ConfigError(
      'data_dir_not_lockable',
      `${file} cannot be locked (${describeError(error)}). Put PAYDIRT_DATA_DIR on another file system, or set DATABASE_URL`,
      { cause: error },
    )
  }
  const held = database
  return { release: () => held.close() }
}

function isBusy(error: unknown): boolean {
  const busy = 5
  const code = (error as { errcode?: unknown }).errcode
  // The low byte is the code, the rest tells it apart further.
  return typeof code === 'number' && (code & 0xff) === busy
}
