import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { ConfigError, InputError } from '../../domain/errors.ts'
import { formOf, garbledWarning, looksWestern, utf16Order, type TextForm } from './encoding.ts'

/** One pass over a file: valid UTF-8 without a BOM, and the SHA-256 of the raw bytes at the end of the pass. */
export interface TextPass {
  chunks: AsyncIterable<Buffer>
  /** In hex; undefined until the last chunk was read. */
  sha256(): string | undefined
}

type Decoder = InstanceType<typeof TextDecoder>

const sampleBytes = 64 * 1024

/** Throws for anything but a regular file: the input is read more than once, so a pipe does not work. */
export async function assertReadableFile(path: string): Promise<void> {
  const stats = await stat(path).catch((error: unknown) => {
    throw new ConfigError('csv_unreadable', `${path}: ${readFailure(error)}`, { cause: error })
  })
  if (stats.isDirectory()) throw new ConfigError('csv_unreadable', `${path}: it is a directory, not a file`)
  if (!stats.isFile())
    throw new ConfigError(
      'csv_unreadable',
      `${path}: it is not a regular file; it is read more than once, so save it to a file first`,
    )
}

/** The start of a file as text. */
export interface Sample {
  form: TextForm
  text: string
  /** True where the file ends there. */
  whole: boolean
  /** Set where the encoding that the user named is doubtful. */
  warning: string | undefined
}

/** Reads the start of a file. `told` is the encoding that the user named. Throws for a file that is not text. */
export async function readSample(path: string, told?: string | undefined): Promise<Sample> {
  const handle = await open(path, 'r').catch((error: unknown) => {
    throw new ConfigError('csv_unreadable', `${path}: ${readFailure(error)}`, { cause: error })
  })
  try {
    const buffer = Buffer.alloc(sampleBytes)
    const { bytesRead } = await handle.read(buffer, 0, sampleBytes, 0)
    const head = buffer.subarray(0, bytesRead)
    refuseOtherFormats(path, head)
    const form = formOf(path, head, told)
    if (!form.encoding.startsWith('utf-16')) refuseManyNuls(path, head)
    // Always as a stream: Node 20 decodes the quotes and the euro sign of Windows-1252 wrongly in one piece.
    const text = new TextDecoder(form.encoding).decode(head.subarray(form.bomLength), { stream: true })
    return { form, text, whole: bytesRead < sampleBytes, warning: garbledWarning(head, form) }
  } finally {
    await handle.close()
  }
}

/**
 * Reads a file as text, chunk by chunk and no faster than it is consumed. Throws InputError with the first line that is
 * not text.
 */
export function readText(path: string, form: TextForm): TextPass {
  const hash = createHash('sha256')
  let digest: string | undefined

  async function* chunks() {
    const gate = createTextGate(path)
    const decoder = form.encoding === 'utf-8' ? undefined : new TextDecoder(form.encoding, { fatal: true })
    let toSkip = form.bomLength
    for await (const raw of createReadStream(path) as AsyncIterable<Buffer>) {
      hash.update(raw)
      const bytes = raw.subarray(toSkip)
      toSkip = Math.max(0, toSkip - raw.length)
      const text = decoder ? transcode(path, form, decoder, bytes, gate.line()) : bytes
      yield gate.pass(text)
    }
    if (decoder) yield gate.pass(transcode(path, form, decoder, undefined, gate.line()))
    gate.end()
    digest = hash.digest('hex')
  }

  return { chunks: chunks(), sha256: () => digest }
}

/** Returns the SHA-256 of a file's raw bytes, in hex. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) hash.update(chunk)
  return hash.digest('hex')
}

/**
 * Every second byte of UTF-16 is NUL in most scripts, and many of a binary file are. A few of them are the fault of their
 * rows alone.
 */
function refuseManyNuls(path: string, head: Buffer): void {
  if (occurrences(head, 0) * 8 <= head.length) return
  const line = occurrences(head.subarray(0, head.indexOf(0)), 0x0a) + 1
  const order = utf16Order(head)
  throw new InputError(
    'csv_not_text',
    `${path}, line ${line}: NUL bytes; ${
      order === undefined
        ? 'the file is not text, or is UTF-16 without a byte order mark: save it as UTF-8'
        : `it looks like UTF-16 without a byte order mark: add --encoding ${order}`
    }`,
    { details: { line, ...(order === undefined ? {} : { encoding: order }) } },
  )
}

function refuseOtherFormats(path: string, head: Buffer): void {
  const start = head.toString('latin1', 0, 8)
  const what = start.startsWith('PK\x03\x04')
    ? 'a ZIP archive or a spreadsheet (.xlsx, .ods)'
    : start.startsWith('\xd0\xcf\x11\xe0')
      ? 'a spreadsheet (.xls)'
      : start.startsWith('\x1f\x8b')
        ? 'a gzip archive'
        : start.startsWith('%PDF')
          ? 'a PDF'
          : undefined
  if (what)
    throw new InputError('csv_not_text', `${path}, line 1: it is ${what}, not text; export it as CSV (UTF-8)`)
}

/** Passes UTF-8 on, whole characters at a time, and refuses the first byte that is not text, with its line. */
function createTextGate(path: string) {
  let tail: Buffer = Buffer.alloc(0)
  let lineFeeds = 0
  let carriageReturns = 0
  // In a file with carriage returns alone (old Mac exports) lines are counted by them.
  const line = () => 1 + (lineFeeds > 0 ? lineFeeds : carriageReturns)
  const count = (bytes: Buffer) => {
    lineFeeds += occurrences(bytes, 0x0a)
    carriageReturns += occurrences(bytes, 0x0d)
  }

  return {
    line,
    pass(chunk: Buffer): Buffer {
      const bytes = tail.length === 0 ? chunk : Buffer.concat([tail, chunk])
      const end = bytes.length - openCharacter(bytes)
      const whole = bytes.subarray(0, end)
      tail = bytes.subarray(end)

      const broken = isUtf8(whole) ? -1 : firstBrokenByte(whole)
      if (broken !== -1) {
        count(whole.subarray(0, broken))
        throw notUtf8(path, line(), whole.subarray(broken))
      }
      count(whole)
      return whole
    },
    end() {
      if (tail.length > 0) throw notUtf8(path, line(), tail)
    },
  }
}

function transcode(
  path: string,
  { isTold }: TextForm,
  decoder: Decoder,
  bytes: Buffer | undefined,
  line: number,
): Buffer {
  try {
    return Buffer.from(decoder.decode(bytes, { stream: bytes !== undefined }))
  } catch (cause) {
    const before = new TextDecoder(decoder.encoding).decode(bytes).split('\uFFFD')[0] ?? ''
    const at = line + before.split('\n').length - 1
    throw new InputError(
      'csv_not_text',
      `${path}, line ${at}: not valid ${decoder.encoding.toUpperCase()}, which ${isTold ? '--encoding' : 'its byte order mark'} says it is; ${isTold ? 'name its real encoding' : 'save it as UTF-8'}`,
      { details: { line: at }, cause },
    )
  }
}

function notUtf8(path: string, line: number, bytes: Buffer): InputError {
  const hex = (bytes[0] as number).toString(16).toUpperCase().padStart(2, '0')
  const remedy = looksWestern(bytes)
    ? 'it looks like Windows-1252, as spreadsheets export it: add --encoding windows-1252 (or windows-1250 for Central Europe), and look at the sample rows of --plan'
    : 'name its encoding with --encoding (such as windows-1251, shift_jis or gb18030), or save the file as UTF-8'
  return new InputError('csv_not_text', `${path}, line ${line}: byte 0x${hex} is not UTF-8; ${remedy}`, {
    details: { line },
  })
}

/** Returns the number of bytes at the end that start a character which continues in the next chunk. */
function openCharacter(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number
    if ((byte & 0xc0) === 0x80) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return length > back ? back : 0
  }
  return 0
}

/**
 * Returns the position of the first character that is not UTF-8. A broken prefix stays broken as it grows, hence the
 * bisection.
 */
function firstBrokenByte(bytes: Buffer): number {
  const valid = (length: number) =>
    isUtf8(bytes.subarray(0, length - openCharacter(bytes.subarray(0, length))))
  let good = 0
  let bad = bytes.length
  while (bad - good > 1) {
    const middle = (good + bad) >> 1
    if (valid(middle)) good = middle
    else bad = middle
  }
  return good - openCharacter(bytes.subarray(0, good))
}

function occurrences(bytes: Buffer, byte: number): number {
  let count = 0
  for (let at = bytes.indexOf(byte); at !== -1; at = bytes.indexOf(byte, at + 1)) count++
  return count
}

function readFailure(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'there is no such file'
  if (code === 'EACCES' || code === 'EPERM') return 'it may not be read by this user'
  return `it cannot be read (${code ?? 'unknown error'})`
}
