import { chmodSync, lstatSync, readdirSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigError, describeError } from '../../domain/errors.ts'

/** The permission bits of everybody but the owner. */
export const others = 0o077

/**
 * Creates a directory that only its owner may enter, and takes the rights of others from what is in it already: the ledger
 * holds personal data. Earlier versions left its files readable and writable by everybody. Where the files belong to another
 * user, or the file system has no such rights, they stay as they are.
 */
export async function makePrivate(directory: string): Promise<void> {
  await makeDataDir(directory)
  withdrawRights(directory)
}

/** Creates the data directory where there is none. Throws ConfigError, with the setting that names it, where none can be. */
export async function makeDataDir(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const why =
      code === 'EEXIST'
        ? 'is a file, not a folder'
        : code === 'ENOTDIR'
          ? 'is below a file, not in a folder'
          : code === 'EACCES' || code === 'EPERM'
            ? 'may not be created by this user'
            : `cannot be created (${describeError(error)})`
    throw new ConfigError(
      'data_dir_unusable',
      `${directory} ${why}. The data directory is the folder that holds the ledger: name one with PAYDIRT_DATA_DIR`,
      { cause: error },
    )
  }
}

/** Synchronous: some 600 small files take 3 ms at each start, and 100 ms when each is a task of its own. */
function withdrawRights(path: string): void {
  const found = unlessRefused(() => lstatSync(path))
  if (!found || found.isSymbolicLink()) return
  if ((found.mode & others) !== 0) unlessRefused(() => chmodSync(path, found.mode & 0o7777 & ~others))
  if (!found.isDirectory()) return
  for (const name of unlessRefused(() => readdirSync(path)) ?? []) withdrawRights(join(path, name))
}

/** A file may vanish meanwhile, because another process of the owner cleans up, or may belong to another user. */
function unlessRefused<T>(access: () => T): T | undefined {
  try {
    return access()
  } catch {
    return undefined
  }
}
