import type { OptionsNormalized, Options } from 'csv-parse'
import { parse } from 'csv-parse/sync'

export type Delimiter = ',' | ';' | '\t' | '|'
type LineEnding = '\n' | '\r\n' | '\r'

/** The separators of a file's cells and rows; the output is written the same way. */
export interface Dialect {
  delimiter: Delimiter
  eol: LineEnding
  /** Set where the first line is a spreadsheet's own word for the delimiter (`sep=;`). It is no header. */
  declared?: true
}

const delimiters: readonly Delimiter[] = [',', ';', '\t', '|']
const sampleRecords = 20
/** A longer row is an unclosed quote: reading stops instead of filling the memory. */
export const maxRowCharacters = 1024 * 1024

/**
 * Returns the options for reading rows. A quote inside an unquoted cell, or text after a closing quote, is kept as it
 * is: hand-made files have many of them. Blank lines are not rows.
 */
export function parserOptions(dialect: Dialect): Options {
  return {
    delimiter: dialect.delimiter,
    // Concatenated files have more than one kind of line ending.
    record_delimiter: dialect.eol === '\r' ? ['\r\n', '\n', '\r'] : ['\r\n', '\n'],
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: maxRowCharacters,
  }
}

/**
 * Detects delimiter and line ending from the start of a file, or takes them from its line `sep=;`. The delimiter is the one with which most header names are
 * recognised, then the one that splits most rows like the header, then the one with most columns.
 */
export function detectDialect(
  sample: string,
  options: { whole: boolean; recognised: (names: string[]) => number },
): Dialect {
  const declared = /^"?sep=([,;\t|])"?(\r\n|\n|\r)/i.exec(sample)
  if (declared) return { delimiter: declared[1] as Delimiter, eol: declared[2] as LineEnding, declared: true }
  const eol = detectLineEnding(sample)
  let best: { delimiter: Delimiter; score: number[] } = { delimiter: ',', score: [] }
  for (const delimiter of delimiters) {
    const records = readRecords(sample, { ...parserOptions({ delimiter, eol }), to: sampleRecords })
    if (!options.whole && records.length > 1 && records.length < sampleRecords) records.pop()
    const header = records[0] ?? []
    if (header.length < 2) continue
    const alike = records.filter((cells) => cells.length === header.length).length / records.length
    // With a wrong delimiter, a name keeps a quote or the right delimiter, and is not recognised.
    const clean = header.filter((name) => !/[",;\t|]/.test(name))
    const score = [options.recognised(clean), alike, header.length]
    if (isBetter(score, best.score)) best = { delimiter, score }
  }
  return { delimiter: best.delimiter, eol }
}

/**
 * Returns the text after the first record. Any delimiter may end a quoted cell here, since the delimiter is not known
 * yet.
 */
function detectLineEnding(sample: string): LineEnding {
  let headerBytes = 0
  readRecords(
    sample,
    { ...parserOptions({ delimiter: ',', eol: '\r' }), delimiter: [...delimiters], to: 1 },
    (bytes) => {
      headerBytes = bytes
    },
  )
  const header = Buffer.from(sample).subarray(0, headerBytes).toString()
  if (header.endsWith('\r\n')) return '\r\n'
  return header.endsWith('\r') ? '\r' : '\n'
}

/** Returns the first records of a sample; the last one may be cut where the sample is not the whole file. */
export function sampleRows(sample: string, dialect: Dialect, most: number): string[][] {
  const records = readRecords(sample, { ...parserOptions(dialect), to: most + (dialect.declared ? 1 : 0) })
  return dialect.declared ? records.slice(1) : records
}

function readRecords(sample: string, options: Options, onBytes?: (bytes: number) => void): string[][] {
  const records: string[][] = []
  const onRecord: NonNullable<OptionsNormalized['on_record']> = (record, { bytes }) => {
    records.push(record)
    onBytes?.(bytes)
    return null
  }
  try {
    parse(sample, { ...options, on_record: onRecord })
  } catch {
    // The sample may end within a quoted cell; the part before it is enough.
  }
  return records
}

function isBetter(score: number[], than: number[]): boolean {
  const at = score.findIndex((value, index) => value !== (than[index] ?? -1))
  return at !== -1 && (score[at] as number) > (than[at] ?? -1)
}

/**
 * Returns a function that writes a record as one line. A cell is quoted where it holds the delimiter, a quote or any line
 * break: a lone line feed in a file of CRLF lines would else split its row in two.
 */
export function csvLines({
  delimiter,
  eol,
}: Pick<Dialect, 'delimiter' | 'eol'>): (cells: readonly string[]) => string {
  const special = new RegExp(`["\\r\\n${delimiter === '|' ? '\\|' : delimiter}]`)
  return (cells) => {
    let line = ''
    for (let index = 0; index < cells.length; index += 1) {
      const cell = cells[index] as string
      if (index > 0) line += delimiter
      line += special.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
    }
    return line + eol
  }
}
