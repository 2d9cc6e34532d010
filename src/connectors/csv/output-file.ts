import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { chmod, link, open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { ConfigError } from '../../domain/errors.ts'

type Target =
  | { kind: 'file'; path: string; mode: number | undefined }
  /** A device or pipe (`/dev/null`): written to directly, since no file may be renamed over it. */
  | { kind: 'device'; path: string }

/**
 * Checks, before anything is bought, that the output can be written. Throws ConfigError when OUT is the input itself
 * (also through a symbolic or hard link), is a directory, or is in one that does not exist or is not writable.
 */
export async function assertWritableOutput(input: string, out: string): Promise<void> {
  const target = await resolveTarget(input, out)
  if (target.kind === 'device') return
  const probe = temporaryPath(target.path)
  try {
    await writeFile(probe, '', { flag: 'wx' })
    await rm(probe)
  } catch (error) {
    throw unwritable(out, error)
  }
}

export interface NamingOptions {
  /** True where a file that has the name may be replaced. */
  replace: boolean
  /** Called with the complete file before it takes its name. */
  beforeNamed?: ((file: { path: string; temporary: string }) => Promise<void>) | undefined
}

/**
 * Lets `write` fill the output, and gives it its name only when it is complete: an existing OUT stays whole until then, and
 * unchanged when `write` throws. Without an input nothing is compared with it. Throws ConfigError when OUT has appeared meanwhile and may not be replaced.
 */
export async function writeInPlace(
  input: string | undefined,
  out: string,
  write: (sink: Writable) => Promise<void>,
  { replace, beforeNamed }: NamingOptions = { replace: true },
): Promise<void> {
  const target = await resolveTarget(input, out)
  if (target.kind === 'device') return write(createWriteStream(target.path))

  const temporary = temporaryPath(target.path)
  try {
    await write(createWriteStream(temporary, { flags: 'wx', mode: target.mode ?? 0o666 }))
    await sync(temporary)
    if (target.mode !== undefined) await chmod(temporary, target.mode)
    // Crash window: the output is complete under its temporary name, which is never taken for an output.
    await beforeNamed?.({ path: target.path, temporary })
    if (replace) await rename(temporary, target.path)
    else await takeFreeName(temporary, target.path, out)
    await sync(dirname(target.path)).catch(() => {}) // Not every platform can do this to a directory.
  } catch (error) {
    await rm(temporary, { force: true })
    throw isSystemError(error) ? unwritable(out, error) : error
  }
}

/** A link is refused where the name is taken, which a rename is not. */
async function takeFreeName(temporary: string, path: string, out: string): Promise<void> {
  try {
    await link(temporary, path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST')
      throw new ConfigError(
        'csv_out_exists',
        `${out}: a file of this name is there. Nothing that was bought is lost: run the same command with another --out, or with --force to replace it`,
        { cause: error },
      )
    // Not every file system has links.
    return rename(temporary, path)
  }
  await rm(temporary, { force: true })
}

async function resolveTarget(input: string | undefined, out: string): Promise<Target> {
  const [source, existing] = await Promise.all([
    input === undefined ? undefined : stat(input, { bigint: true }),
    statOrNothing(out),
  ])
  if (!existing) {
    const directory = dirname(resolve(out))
    const parent = await statOrNothing(directory)
    if (!parent?.isDirectory())
      throw new ConfigError('csv_no_out_directory', `${out}: there is no directory ${directory}`)
    return { kind: 'file', path: join(await realpath(directory), basename(out)), mode: undefined }
  }
  if (source && existing.dev === source.dev && existing.ino === source.ino)
    throw new ConfigError(
      'csv_out_is_input',
      `${out}: this is the input file itself; name another file to write to`,
    )
  if (existing.isDirectory())
    throw new ConfigError('csv_out_unwritable', `${out}: it is a directory; name a file in it`)
  if (!existing.isFile()) return { kind: 'device', path: out }
  // A symbolic link stays, and the file that it points to is replaced.
  return { kind: 'file', path: await realpath(out), mode: Number(existing.mode) & 0o777 }
}

function temporaryPath(path: string): string {
  return join(dirname(path), `.${basename(path).slice(0, 200)}.${randomUUID()}.part`)
}

/** Flushes the file, so that it survives a power cut. */
async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function statOrNothing(path: string) {
  return stat(path, { bigint: true }).catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw unwritable(path, error)
  })
}

function unwritable(out: string, error: unknown): ConfigError {
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown error'
  const why =
    code === 'EACCES' || code === 'EPERM'
      ? 'it may not be written to by this user'
      : code === 'EROFS'
        ? 'it lies on a read-only file system'
        : code === 'ENOSPC' || code === 'EDQUOT'
          ? 'there is no space left for it'
          : `it cannot be written (${code})`
  return new ConfigError('csv_out_unwritable', `${out}: ${why}`, { cause: error })
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && 'errno' in error
}
