import type { OptionsNormalized, Options } from 'csv-parse'
import { parse } from 'csv-parse/sync'

export type Delimiter = ',' | ';' | '\t'
type LineEnding = '\n' | '\r\n' | '\r'

/** How a file writes its rows; the output is written the same way. */
export interface Dialect {
  delimiter: Delimiter
  eol: LineEnding
}

const delimiters: readonly Delimiter[] = [',', ';', '\t']
const sampleRecords = 20
/** A row longer than this is a quote that was never closed: reading stops instead of filling the memory. */
export const maxRowCharacters = 1024 * 1024

/**
 * How rows are read. A quote inside a cell that is not quoted, or text behind a closing quote, is taken as it stands:
 * hand-made files are full of them. Blank lines are no rows.
 */
export function parserOptions(dialect: Dialect): Options {
  return {
    delimiter: dialect.delimiter,
    // Files that were pasted together end their lines in more than one way.
    record_delimiter: dialect.eol === '\r' ? ['\r\n', '\n', '\r'] : ['\r\n', '\n'],
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: maxRowCharacters,
  }
}

/**
 * Tells delimiter and line ending from the beginning of a file. The delimiter is the one under which most header names
 * are recognised, then the one that cuts most rows like the header, then the one with most columns.
 */
export function detectDialect(
  sample: string,
  options: { whole: boolean; recognised: (names: string[]) => number },
): Dialect {
  const eol = detectLineEnding(sample)
  let best: { delimiter: Delimiter; score: number[] } = { delimiter: ',', score: [] }
  for (const delimiter of delimiters) {
    const records = readRecords(sample, { ...parserOptions({ delimiter, eol }), to: sampleRecords })
    if (!options.whole && records.length > 1 && records.length < sampleRecords) records.pop()
    const header = records[0] ?? []
    if (header.length < 2) continue
    const alike = records.filter((cells) => cells.length === header.length).length / records.length
    // Cut at the wrong places, a name keeps a quote or the right delimiter, and is no name.
    const clean = header.filter((name) => !/[",;\t]/.test(name))
    const score = [options.recognised(clean), alike, header.length]
    if (isBetter(score, best.score)) best = { delimiter, score }
  }
  return { delimiter: best.delimiter, eol }
}

/** What stands behind the first record. Any delimiter may end a quoted cell here, since which one is not known yet. */
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
    // The sample may end within a quoted cell; what stands in front of it is enough.
  }
  return records
}

function isBetter(score: number[], than: number[]): boolean {
  const at = score.findIndex((value, index) => value !== (than[index] ?? -1))
  return at !== -1 && (score[at] as number) > (than[at] ?? -1)
}
