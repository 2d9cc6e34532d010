import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { CsvError, parse, type InfoRecord } from 'csv-parse/sync'
import { cellText } from '../../connectors/csv/cell-text.ts'
import { foldName, namesOf, type Synonyms } from '../../connectors/csv/column-names.ts'
import { detectDialect, parserOptions } from '../../connectors/csv/dialect.ts'
import { formOf } from '../../connectors/csv/encoding.ts'
import { InputError } from '../../domain/errors.ts'
import {
  identifierKinds,
  identifierOf,
  type Identifier,
  type IdentifierKind,
} from '../../domain/subjects/identifiers.ts'

export interface SuppressionFile {
  /** Each identifier once, also when the list has it several times or in several spellings. */
  identifiers: Identifier[]
  counts: Record<IdentifierKind, number>
  /** Lines of rows without an identifier. */
  blankLines: number[]
  /** Columns that are ignored. */
  ignored: string[]
}

export interface IdentifierColumns {
  networkName: string
  synonyms: Synonyms
}

/** Returns the option under which a text that is no file was meant; undefined where it looks like a file. */
function optionFor(text: string): string | undefined {
  if (/^[^\s/]+@[^\s/]+$/.test(text)) return '--email'
  if (/^https?:\/\//i.test(text)) return '--profile-url'
  if (/^\+?[\d ()./-]{6,}$/.test(text)) return '--phone'
  if (/^[a-z\d-]+(\.[a-z\d-]+)+$/i.test(text) && !/\.(csv|txt|tsv)$/i.test(text)) return '--domain'
  return undefined
}

/** Returns the text of a file, or of standard input for `-`. Throws InputError with the first line that is not text. */
export async function readSuppressionText(path: string): Promise<{ name: string; text: string }> {
  const name = path === '-' ? 'standard input' : path
  const bytes = path === '-' ? await readAll(process.stdin) : await readFile(path).catch(refuseUnreadable)
  const { encoding } = formOf(name, bytes.subarray(0, 4), undefined)
  if (encoding === 'utf-8' && !isUtf8(bytes)) {
    const lines = splitBytes(bytes)
    const line = lines.findIndex((each) => !isUtf8(each)) + 1
    throw new InputError(
      'mark_file_not_text',
      `${name}, line ${line}: it is not UTF-8; save it as CSV (UTF-8)`,
    )
  }
  return { name, text: new TextDecoder(encoding).decode(bytes) }

  function refuseUnreadable(cause: unknown): never {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error'
    const option = optionFor(name)
    const hint = option === undefined ? '' : `. A file is expected here; ${option} names one identifier`
    throw new InputError('mark_file_unreadable', `${name}: it cannot be read (${code})${hint}`, { cause })
  }
}

/**
 * Reads a list of subjects: a CSV whose header has a column for a kind of identifier, or one identifier on each line. Throws
 * InputError, with every line that cannot be read and never with a value, unless all of it can be read.
 */
export function parseIdentifiers(
  { name, text }: { name: string; text: string },
  columns: IdentifierColumns,
): SuppressionFile {
  const problems: string[] = []
  const identifiers = new Map<string, Identifier>()
  const { rows, ignored } = readRows(name, text, columns)
  const blankLines: number[] = []
  for (const { line, cells, problem } of rows) {
    if (problem !== undefined) problems.push(`line ${line}: ${problem}`)
    if (cells.length === 0 && problem === undefined) blankLines.push(line)
    for (const { kind, column, value } of cells) {
      const canonical = identifierOf(kind, value)
      if (canonical.ok) identifiers.set(`${kind}|${canonical.value}`, { kind, value: canonical.value })
      else
        problems.push(`line ${line}${column === undefined ? '' : `, column ${column}`}: ${canonical.reason}`)
    }
  }
  if (problems.length > 0) {
    const more = problems.length - mostShown
    throw new InputError(
      'bad_mark_file',
      [
        `${name}: nothing was done, because some lines cannot be read`,
        ...problems.slice(0, mostShown),
        ...(more > 0 ? [`and ${more} more`] : []),
      ].join('\n  '),
      { details: { problems: problems.length } },
    )
  }
  if (identifiers.size === 0) throw new InputError('empty_mark_file', `${name}: it has no identifiers`)
  const all = [...identifiers.values()]
  const counts = Object.fromEntries(
    identifierKinds.map((kind) => [kind, all.filter((each) => each.kind === kind).length]),
  ) as SuppressionFile['counts']
  return { identifiers: all, counts, blankLines, ignored }
}

const mostShown = 20

interface Row {
  line: number
  cells: { kind: IdentifierKind; column?: string; value: string }[]
  problem?: string
}

function readRows(name: string, raw: string, columns: IdentifierColumns): { rows: Row[]; ignored: string[] } {
  const kinds = kindsByName(columns)
  const kindOf = (column: string) => kinds.get(foldName(column))
  const dialect = detectDialect(raw.slice(0, sampleCharacters), {
    whole: raw.length <= sampleCharacters,
    recognised: (names) => names.filter((each) => kindOf(each) !== undefined).length,
  })
  // A spreadsheet's own line (`sep=;`) is no header; a blank one in its place keeps the numbers of the lines.
  const text = dialect.declared ? raw.replace(/^[^\r\n]*/, '') : raw
  const firstLine = text.split(/\r\n|\n|\r/).find((line) => line.trim() !== '') ?? ''
  const header = parsed(name, firstLine, { ...parserOptions(dialect), info: true })[0]?.record ?? []
  if (!header.some((column) => kindOf(column))) return { rows: linesOf(text), ignored: [] }

  let line = 1
  let blankLines = 0
  const rows = parsed(name, text, { ...parserOptions(dialect), info: true }).map(({ record, info }): Row => {
    line += info.empty_lines - blankLines
    blankLines = info.empty_lines
    const start = line
    line += 1 + record.reduce((sum, cell) => sum + (cell.match(/\r\n|\n|\r/g)?.length ?? 0), 0)
    if (record.length !== header.length)
      return {
        line: start,
        cells: [],
        problem: `${record.length} cells where the header has ${header.length}`,
      }
    const cells = record.flatMap((cell, index) => {
      const column = (header[index] ?? '').trim()
      const kind = kindOf(column)
      const value = cellText(cell)
      return kind && value !== '' ? [{ kind, column, value }] : []
    })
    return { line: start, cells }
  })
  return { rows: rows.slice(1), ignored: header.filter((column) => column.trim() !== '' && !kindOf(column)) }
}

const sampleCharacters = 64 * 1024

/**
 * Returns the column names of a file to enrich, with one exception: only a column named `domain` suppresses everyone at a
 * domain, because a list of people often has their employers' websites too.
 */
function kindsByName({ networkName, synonyms }: IdentifierColumns): Map<string, IdentifierKind> {
  const options = { networkName, synonyms }
  const names: Record<IdentifierKind, string[]> = {
    email: namesOf('email', { object: 'person', ...options }),
    phone: namesOf('phone', { object: 'person', ...options }),
    profile_url: [
      ...namesOf('profileUrl', { object: 'person', ...options }),
      ...namesOf('profileUrl', { object: 'company', ...options }),
    ],
    domain: ['domain'],
  }
  return new Map(
    identifierKinds.flatMap((kind) => names[kind].map((each) => [foldName(each), kind] as const)),
  )
}

function linesOf(text: string): Row[] {
  return text.split(/\r\n|\n|\r/).flatMap((raw, index): Row[] => {
    const value = raw.trim()
    if (value === '') return []
    const kind = kindOfLine(value)
    const line = index + 1
    if (kind) return [{ line, cells: [{ kind, value }] }]
    const problem =
      'it is not an e-mail address, phone number with its country prefix, profile URL or domain (a CSV begins with a header: email, phone, profile_url, domain)'
    return [{ line, cells: [], problem }]
  })
}

/** Decides by the form alone. An address with a path is a profile or nothing: it must not suppress everyone at its host. */
function kindOfLine(value: string): IdentifierKind | undefined {
  if (value.includes('@')) return 'email'
  if (/^(\+|00)[\d\s().\-/]+$/.test(value)) return 'phone'
  if (identifierOf('profile_url', value).ok) return 'profile_url'
  const hasPath = /[^/:]\/+[^/]/.test(value.replace(/^[a-z]+:\/\//i, ''))
  return !hasPath && identifierOf('domain', value).ok ? 'domain' : undefined
}

function parsed(name: string, text: string, options: object): { record: string[]; info: InfoRecord }[] {
  try {
    return parse(text, options) as unknown as { record: string[]; info: InfoRecord }[]
  } catch (cause) {
    if (!(cause instanceof CsvError)) throw cause
    const line = /at line (\d+)/.exec(cause.message)?.[1]
    throw new InputError(
      'bad_mark_file',
      `${name}${line === undefined ? '' : `, line ${line}`}: a row cannot be read (${cause.code}); is a quote left open?`,
      { cause },
    )
  }
}

async function readAll(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function splitBytes(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = []
  for (let start = 0; start <= bytes.length;) {
    const end = bytes.indexOf(0x0a, start)
    lines.push(bytes.subarray(start, end === -1 ? bytes.length : end))
    start = end === -1 ? bytes.length + 1 : end + 1
  }
  return lines
}
