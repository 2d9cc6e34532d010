import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { finished, pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { ConfigError, InputError, describeError } from '../../domain/errors.ts'

/** The last line: a file that was cut off has none, and one that was changed has another digest. */
interface End {
  end: { lines: number; sha256: string }
}

/** A draft that has not grown for so long was left by a process that was killed. */
const staleMs = 3_600_000
/** A line holds one row. More than this is another kind of file, and would not fit into memory as text. */
const longestLine = 256 * 1024 * 1024

/**
 * Writes lines of JSON into a compressed file for its owner alone. Crash window: the file has another name until it is
 * complete; killed before, what is there of that name stays as it was, and a later backup removes the draft. Two processes at
 * once have a draft each: the file is the one that ended last, whole.
 */
export async function writeBackupFile<T>(
  path: string,
  fill: (write: (line: unknown) => Promise<void>) => Promise<T>,
): Promise<T> {
  if ((await stat(path).catch(() => undefined))?.isDirectory()) throw notWritten(path, 'it is a folder')
  await removeStaleDrafts(path)
  const draft = `${path}.${randomBytes(6).toString('hex')}.unfinished`
  const gzip = createGzip()
  // Exclusive: through a file or link that is there already, others could read it.
  const file = createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true })
  const written = finished(gzip.pipe(file))
  written.catch(() => {})
  const digest = createHash('sha256')
  let lines = 0
  try {
    const filled = await fill(async (line) => {
      const text = `${JSON.stringify(line)}\n`
      digest.update(text)
      lines += 1
      if (!gzip.write(text)) await Promise.race([once(gzip, 'drain'), written])
    })
    const end: End = { end: { lines, sha256: digest.digest('hex') } }
    gzip.end(`${JSON.stringify(end)}\n`)
    await written
    await rename(draft, path)
    return filled
  } catch (error) {
    gzip.destroy()
    file.destroy()
    await rm(draft, { force: true }).catch(() => {})
    const why = reasons[(error as { code?: string }).code ?? '']
    throw why === undefined ? error : notWritten(path, why)
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such folder',
  ENOTDIR: 'there is no such folder',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'it cannot be written there',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
}

function notWritten(path: string, why: string): ConfigError {
  return new ConfigError('backup_not_written', `the backup ${path} was not written: ${why}`)
}

async function removeStaleDrafts(path: string): Promise<void> {
  const folder = dirname(path)
  const start = `${basename(path)}.`
  const names = await readdir(folder).catch(() => [])
  const drafts = names.filter(
    (name) => name.startsWith(start) && /^[0-9a-f]{12}\.unfinished$/.test(name.slice(start.length)),
  )
  for (const name of drafts) {
    const draft = join(folder, name)
    const found = await stat(draft).catch(() => undefined)
    if (found && Date.now() - found.mtimeMs > staleMs) await rm(draft, { force: true })
  }
}

/** Reads a backup to its end and throws as `readBackupFile` does. Nothing is begun with a file that was cut off or changed. */
export async function verifyBackupFile(path: string): Promise<void> {
  for await (const _ of readBackupFile(path));
}

/** Reads the lines of a backup. Throws InputError `bad_backup`, at its end at the latest, for a file that is none or is not whole. */
export async function* readBackupFile(path: string): AsyncGenerator<unknown> {
  const bad = (why: string) =>
    new InputError('bad_backup', `${path} is not a whole backup of paydirt: ${why}`)
  const digest = createHash('sha256')
  let lines = 0
  let end: End['end'] | undefined
  try {
    for await (const text of textLines(path)) {
      if (end) throw bad('there is more after its end')
      const line: unknown = JSON.parse(text)
      if (typeof line !== 'object' || line === null) throw bad('its lines are of another kind')
      end = (line as Partial<End>).end
      if (end) continue
      digest.update(`${text}\n`)
      lines += 1
      yield line
    }
  } catch (error) {
    const { code } = error as { code?: string }
    // Its message quotes the file, and a file may have personal data.
    if (error instanceof SyntaxError) throw bad('its lines are of another kind')
    if (code?.startsWith('Z_') || ['ENOENT', 'EISDIR', 'EACCES'].includes(code ?? ''))
      throw bad(describeError(error))
    throw error
  }
  if (!end) throw bad('it ends too early')
  if (end.lines !== lines || end.sha256 !== digest.digest('hex')) throw bad('its digest does not fit')
}

/** Splits at line feeds alone: a value may hold other characters that end a line elsewhere. */
async function* textLines(path: string): AsyncGenerator<string> {
  const unzipped = createGunzip()
  const read = pipeline(createReadStream(path), unzipped)
  read.catch(() => {})
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of unzipped) {
    const parts = (rest + decoder.decode(chunk as Buffer, { stream: true })).split('\n')
    rest = parts.pop() ?? ''
    if (rest.length > longestLine) throw new SyntaxError('a line does not end')
    yield* parts
  }
  await read
  if (rest !== '') yield rest
}
