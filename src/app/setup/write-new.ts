import { chmod, rename, writeFile } from 'node:fs/promises'
import { ConfigError } from '../../domain/errors.ts'

/** Writes a file that is not there yet. Throws ConfigError when it is, also when it has just come. */
export async function writeNew(path: string, text: string, mode: number): Promise<void> {
  try {
    await writeFile(path, text, { mode, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new ConfigError('file_exists', `${path} is there already; it is not overwritten`)
  }
}

/**
 * Moves a file that is to be replaced to a name beside it, and returns that name: it may hold the only copy of a wallet's key.
 * The name has the time to the millisecond, so that no earlier copy is lost. With a mode the copy is no more open than the
 * new file; its rights are withdrawn first, so that no moment has it under a new name with the old ones.
 */
export async function setAside(path: string, at: Date, mode?: number): Promise<string> {
  const aside = `${path}.before-${at.toISOString().replaceAll(':', '')}`
  if (mode !== undefined) await chmod(path, mode)
  await rename(path, aside)
  return aside
}
