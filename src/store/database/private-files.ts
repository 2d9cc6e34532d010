import { chmod, lstat, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** The permission bits of everybody but the owner. */
export const others = 0o077

/**
 * Creates a directory that only its owner may enter, and takes the rights of others from what is in it already: the ledger
 * holds personal data. Earlier versions left its files readable and writable by everybody. Where the files belong to another
 * user, or the file system has no such rights, they stay as they are.
 */
export async function makePrivate(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await withdrawRights(directory)
}

async function withdrawRights(path: string): Promise<void> {
  // A file may vanish meanwhile: another process of the ledger's owner cleans up.
  const found = await lstat(path).catch(() => undefined)
  if (!found || found.isSymbolicLink()) return
  if ((found.mode & others) !== 0) await chmod(path, found.mode & 0o7777 & ~others).catch(() => {})
  if (!found.isDirectory()) return
  const names = await readdir(path).catch(() => [])
  for (const name of names) await withdrawRights(join(path, name))
}
