import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { CsvError, Parser, type InfoRecord } from 'csv-parse'
import { InputError } from '../../domain/errors.ts'
import type { Identity } from '../../domain/record.ts'
import type { ObjectKind } from '../../domain/words.ts'
import {
  countRecognised,
  identityOf,
  missingProfileUrl,
  recogniseColumns,
  wrongObjectHint,
  type ColumnOptions,
  type IdentityField,
} from './columns.ts'
import { valuesReader } from './filled-columns.ts'
import { detectDialect, maxRowCharacters, parserOptions, type Dialect } from './dialect.ts'
import { assertReadableFile, hashFile, readSample, readText, type TextForm } from './text-file.ts'

export interface CsvRow {
  /** Number of the data row, from 1, without gaps: blank lines are not counted. */
  ordinal: number
  /** Physical line on which the row starts, from 1. */
  line: number
  /** As parsed: neither trimmed nor padded. */
  cells: string[]
  /** Why the row cannot be read (too few or too many cells); the other rows are processed. */
  problem?: string
}

export interface OpenedCsv extends Dialect {
  path: string
  object: ObjectKind
  hasBom: boolean
  encoding: TextForm['encoding']
  /** Names of the columns as the header spells them. */
  columns: readonly string[]
  /** The name of the column that was recognised for each identifying field. */
  recognised: Record<IdentityField, string | undefined>
  /** SHA-256 of the raw bytes, in hex: two files with the same hash are the same input. */
  sha256: string
  /** The number of data rows, and of those with a problem. */
  rowCount: number
  problemCount: number
  /** Warnings for the user before anything is bought. */
  warnings: readonly string[]
  /** Set when the first rows look like the other object: a hint to show, or a reason to stop. */
  wrongObject: string | undefined
  identity(row: CsvRow): Identity
  /** The row's values by canonical field, in columns of their names or of the identity, without blanks. */
  values(row: CsvRow): Record<string, string>
  /** Streams the rows. Throws InputError at the end of the pass when the file is no longer the one that was opened. */
  rows(options?: { signal?: AbortSignal | undefined }): AsyncIterable<CsvRow>
  /** Throws InputError when the file is no longer the one that was opened. */
  assertUnchanged(): Promise<void>
}

const hintRows = 20
const fileChanged = 'it has changed since it was opened; start again with the file as it is now'

/**
 * Opens a CSV and reads it once, so that every fault that makes it unusable (bytes that are not text, a duplicate
 * column, an unclosed quote) is reported before anything is bought. Memory stays bounded for files of any length.
 * Throws ConfigError (no such file, nothing recognised) and InputError (with file and line).
 */
export async function openCsv(path: string, options: ColumnOptions): Promise<OpenedCsv> {
  await assertReadableFile(path)
  const sample = await readSample(path)
  const dialect = detectDialect(sample.text, {
    whole: sample.whole,
    recognised: (names) => countRecognised(names, options),
  })
  const source: Source = { path, form: sample.form, dialect }
  const before = await fingerprint(path)
  const { header, found, rowCount, problemCount, firstRows, sha256 } = await survey(source, options)

  async function assertUnchanged() {
    if ((await fingerprint(path)) === before) return
    // A file that was only touched is the same file: its content counts.
    if ((await hashFile(path)) !== sha256) throw new InputError('csv_changed', `${path}: ${fileChanged}`)
  }

  async function* rows({ signal }: { signal?: AbortSignal | undefined } = {}) {
    await assertUnchanged()
    const pass = readRows(source, signal)
    for await (const row of pass.rows) if (!('header' in row)) yield row
    if (pass.sha256() !== sha256) throw new InputError('csv_changed', `${path}: ${fileChanged}`)
  }

  const warning = missingProfileUrl(header, found, options)
  const nameAt = (index: number | undefined) => (index === undefined ? undefined : header[index])
  return {
    path,
    object: options.object,
    ...dialect,
    hasBom: sample.form.bomLength > 0,
    encoding: sample.form.encoding,
    columns: header,
    recognised: Object.fromEntries(
      Object.entries(found).map(([field, index]) => [field, nameAt(index)]),
    ) as OpenedCsv['recognised'],
    sha256,
    rowCount,
    problemCount,
    warnings: [
      ...(rowCount === 0 ? ['it has a header and no rows'] : []),
      ...(warning === undefined ? [] : [warning]),
    ].map((text) => `${path}: ${text}`),
    wrongObject: wrongObjectHint(firstRows, found, options.object),
    identity: (row) => identityOf(row.cells, found),
    values: valuesReader(header, found, options.object),
    rows,
    assertUnchanged,
  }
}

/** Streams the rows of a CSV. */
export async function* readCsv(path: string, options: ColumnOptions): AsyncIterable<CsvRow> {
  const csv = await openCsv(path, options)
  yield* csv.rows()
}

interface Source {
  path: string
  form: TextForm
  dialect: Dialect
}

type HeaderRow = { header: string[]; line: number }

async function survey(source: Source, options: ColumnOptions) {
  const { path } = source
  const pass = readRows(source)
  const firstRows: string[][] = []
  let header: HeaderRow | undefined
  let found: ReturnType<typeof recogniseColumns> | undefined
  let rowCount = 0
  let problemCount = 0
  for await (const row of pass.rows) {
    if ('header' in row) {
      header = row
      found = recogniseColumns(row.header, options, `${path}, line ${row.line}`)
      continue
    }
    rowCount++
    if (row.problem) problemCount++
    if (firstRows.length < hintRows) firstRows.push(row.cells)
  }
  if (!header || !found)
    throw new InputError(
      'csv_empty',
      `${path}, line 1: the file is empty; a line with column names is needed`,
    )
  const sha256 = pass.sha256() as string
  return { header: header.header, found, rowCount, problemCount, firstRows, sha256 }
}

/** One pass: the header, then the rows. Only the parser's output for one chunk of the file is in memory at a time. */
function readRows(source: Source, signal?: AbortSignal) {
  const { path, form, dialect } = source
  const text = readText(path, form)

  async function* rows(): AsyncGenerator<HeaderRow | CsvRow> {
    const countLines = lineCounter(dialect)
    const parser = new Parser({ ...parserOptions(dialect), info: true })
    const fed = pipeline(text.chunks, parser, signal ? { signal } : {})
    // The loop below throws the same error; without this handler it would also be an unhandled rejection.
    fed.catch(() => {})

    let line = 1
    let blankLines = 0
    let ordinal = 0
    let width: number | undefined
    try {
      for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: InfoRecord }>) {
        line += info.empty_lines - blankLines
        blankLines = info.empty_lines
        const start = line
        line += 1 + countLines(record)
        if (width === undefined) {
          width = record.length
          yield { header: record, line: start }
          continue
        }
        ordinal++
        const problem = problemOf(record, width, start, line - 1)
        yield { ordinal, line: start, cells: record, ...(problem === undefined ? {} : { problem }) }
      }
    } catch (error) {
      if (!(error instanceof CsvError)) throw error
      throw await brokenRow(source, error, line + parser.info.empty_lines - blankLines)
    }
  }

  return { rows: rows(), sha256: text.sha256 }
}

function problemOf(cells: string[], width: number, line: number, lastLine: number): string | undefined {
  if (cells.length === width) return undefined
  const amount = cells.length < width ? 'too few' : 'too many'
  const counts = `line ${line}: ${amount} cells, ${cells.length} where the header has ${width}`
  return lastLine > line ? `${counts}; the row runs on to line ${lastLine}, is a quote left open?` : counts
}

/** An unclosed quote swallows the rest of the file, so there is no single row to reject: the file is refused. */
async function brokenRow(source: Source, error: CsvError, line: number): Promise<InputError> {
  const { path } = source
  if (error.code === 'CSV_QUOTE_NOT_CLOSED') {
    const open = await locateOpenQuote(source, line)
    return new InputError(
      'csv_quote_not_closed',
      `${path}, line ${open.line}: the quote that opens in column ${open.column} is never closed`,
      { details: { line: open.line, column: open.column }, cause: error },
    )
  }
  if (error.code === 'CSV_MAX_RECORD_SIZE')
    return new InputError(
      'csv_row_too_long',
      `${path}, line ${line}: the row that begins here is longer than ${maxRowCharacters} characters; is a quote left open?`,
      { details: { line }, cause: error },
    )
  return new InputError('csv_broken_row', `${path}, line ${line}: the row cannot be read (${error.code})`, {
    details: { line },
    cause: error,
  })
}

/**
 * Reads the file again to see the cells of the last row, which the parser never returns. Called only when the file is
 * about to be refused.
 */
async function locateOpenQuote(source: Source, rowLine: number): Promise<{ line: number; column: number }> {
  const { path, form, dialect } = source
  const countLines = lineCounter(dialect)
  let cells: string[] = []
  const parser = new Parser({
    ...parserOptions(dialect),
    cast: (value, { column }) => {
      if (column === 0) cells = []
      cells.push(value)
      return value
    },
    on_record: () => {
      cells = []
      return null
    },
  })
  parser.resume()
  await pipeline(readText(path, form).chunks, parser).catch(() => {})
  return { line: rowLine + countLines(cells), column: cells.length + 1 }
}

/** Counts the line breaks inside cells. The parser itself counts a CRLF in quotes as two lines. */
function lineCounter(dialect: Dialect): (cells: string[]) => number {
  const breaks = dialect.eol === '\r' ? /\r\n|\n|\r/g : /\n/g
  return (cells) => {
    let count = 0
    for (const cell of cells)
      if (cell.includes('\n') || cell.includes('\r')) count += cell.match(breaks)?.length ?? 0
    return count
  }
}

async function fingerprint(path: string): Promise<string> {
  const { dev, ino, size, mtimeNs } = await stat(path, { bigint: true })
  return [dev, ino, size, mtimeNs].join(':')
}
