import { pipeline } from 'node:stream/promises'
import { CsvError, Parser } from 'csv-parse'
import { InputError } from '../../domain/errors.ts'
import { maxRowCharacters, parserOptions, type Dialect } from './dialect.ts'
import type { TextForm } from './encoding.ts'
import { readText } from './text-file.ts'

export interface CsvRow {
  /** Number of the data row, from 1, without gaps: blank lines are not counted. */
  ordinal: number
  /** Physical line on which the row starts, from 1. */
  line: number
  /** As parsed: neither trimmed nor padded. */
  cells: string[]
  /** The reason why the row cannot be read (too few or too many cells); the other rows are processed. */
  problem?: string
}

/** A file, and how it is read. */
export interface Source {
  path: string
  form: TextForm
  dialect: Dialect
}

export type HeaderRow = { header: string[]; line: number }

/**
 * One pass: the header, then the rows, each batch those of one chunk of the file. No more than that is in memory at a time. The
 * parser calls back for each row: as a stream of rows it takes longer to hand a row on than to read it.
 */
export function readRows(source: Source, signal?: AbortSignal) {
  const { path, form, dialect } = source
  const text = readText(path, form)

  async function* batches(): AsyncGenerator<(HeaderRow | CsvRow)[]> {
    const countLines = lineCounter(dialect)
    let rows: (HeaderRow | CsvRow)[] = []
    let line = 1
    let blankLines = 0
    let ordinal = 0
    let width: number | undefined
    let isDeclared = dialect.declared === true

    const parser = new Parser({ ...parserOptions(dialect), on_record: take })
    // `feed` tells its errors; without this handler they would end the process.
    parser.on('error', () => {})

    function take(record: string[]): null {
      line += parser.info.empty_lines - blankLines
      blankLines = parser.info.empty_lines
      const start = line
      line += 1 + countLines(record)
      if (isDeclared) isDeclared = false
      else if (width === undefined) {
        width = record.length
        rows.push({ header: record, line: start })
      } else {
        ordinal++
        const problem = problemOf(record, width, start, line - 1)
        rows.push({ ordinal, line: start, cells: record, ...(problem === undefined ? {} : { problem }) })
      }
      return null
    }

    async function* fed(chunk: Buffer | undefined) {
      const error = await feed(parser, chunk)
      if (rows.length > 0) yield rows
      rows = []
      if (!error) return
      if (!(error instanceof CsvError)) throw error
      throw await brokenRow(source, error, line + parser.info.empty_lines - blankLines)
    }

    for await (const chunk of text.chunks) {
      assertGoesOn(signal)
      yield* fed(chunk)
    }
    yield* fed(undefined)
  }

  return { batches: batches(), sha256: text.sha256 }
}

/** Throws where the reader has been told to stop. */
export function assertGoesOn(signal: AbortSignal | undefined): void {
  if (!signal?.aborted) return
  throw new DOMException('the reading was aborted', { name: 'AbortError', cause: signal.reason })
}

/** Gives the parser a chunk, or the end of the file. Returns its error; the rows before it have been taken by then. */
function feed(parser: Parser, chunk: Buffer | undefined): Promise<Error | undefined> {
  return new Promise((resolve) => {
    const fed = (error?: Error | null) => resolve(error ?? undefined)
    if (chunk === undefined) parser.end(fed)
    else parser.write(chunk, fed)
  })
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
