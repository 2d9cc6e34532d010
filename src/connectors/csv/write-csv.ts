import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { InputError } from '../../domain/errors.ts'
import type { FieldChange, Patch } from '../../domain/record.ts'
import type { TaskStatus } from '../../domain/words.ts'
import { csvLines } from './dialect.ts'
import { guardFormula } from './formula-guard.ts'
import { layOut, type OutputLayout } from './output-columns.ts'
import { writeInPlace } from './output-file.ts'
import { hashFile } from './text-file.ts'
import type { OpenedCsv } from './read-csv.ts'
import type { CsvRow } from './read-rows.ts'

/** The result of a run for one row. */
export interface RowResult {
  ordinal: number
  status: TaskStatus
  reason: string | null
  patch: Patch | null
  enrichedAt: Date | null
}

export interface WriteEnrichedOptions {
  input: OpenedCsv
  /** A path, or `-` for standard output. */
  out: string
  /** Canonical names of the fields to fill, in the order of their columns. */
  fields: readonly string[]
  /** In ascending order of their ordinals. Rows without a result are written as not reached. */
  results: AsyncIterable<RowResult> | Iterable<RowResult>
  signal?: AbortSignal
  stdout?: Writable
  /** True when a file at `out` may be replaced. Default: true. */
  replace?: boolean | undefined
  /** Called with the complete file's path and SHA-256 before it takes its name. Not called for a device. */
  onComplete?: ((output: { path: string; sha256: string }) => Promise<void>) | undefined
}

/**
 * Reads the input again and writes it with the results, row by row and with bounded memory: every input column
 * unchanged and in order, the filled columns, `paydirt_status`, `paydirt_reason` and `paydirt_enriched_at` (ISO 8601,
 * UTC). Delimiter, line ending, BOM and a line `sep=;` are the input's; every other encoding becomes UTF-8 with a BOM. An unreadable row is written
 * as `rejected` with its cells: missing ones blank, surplus ones joined to the last.
 *
 * The output appears under its name only when it is complete. Throws InputError when the input has changed since it was
 * opened or the results are not its own, ConfigError when the output cannot be written. Standard output cannot be
 * withdrawn: only an error found before the first row leaves it empty. A reader that closes it early is no error.
 */
export async function writeEnriched(options: WriteEnrichedOptions): Promise<{ rows: number }> {
  const { input, out, stdout = process.stdout, onComplete } = options
  await input.assertUnchanged()
  let rows = 0
  const fill = async (sink: Writable, end: boolean) => {
    const text = Readable.from(outputText(options, () => rows++))
    await pipeline([text, sink], { end, ...(options.signal ? { signal: options.signal } : {}) })
  }
  if (out === '-') await fill(stdout, false).catch(unlessReaderLeft)
  else
    await writeInPlace(input.path, out, (sink) => fill(sink, true), {
      replace: options.replace ?? true,
      beforeNamed:
        onComplete &&
        (async ({ path, temporary }) => onComplete({ path, sha256: await hashFile(temporary) })),
    })
  return { rows }
}

/** A reader that has seen enough closes the pipe (`| head`). Everything else that was bought is in the ledger. */
function unlessReaderLeft(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}

/** Gathered, so that a row does not go through the streams by itself. */
const textCharacters = 16_384

async function* outputText(options: WriteEnrichedOptions, onRow: () => void): AsyncGenerator<string> {
  const { input } = options
  const line = csvLines(input)
  let text = input.hasBom ? '\ufeff' : ''
  for await (const record of outputRecords(options, onRow)) {
    text += line(record)
    if (text.length < textCharacters) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
}

async function* outputRecords(options: WriteEnrichedOptions, onRow: () => void): AsyncGenerator<string[]> {
  const { input, fields, signal } = options
  const layout = layOut(input.columns, fields, input.delimiter)
  const results = resultsByRow(options)
  // Read again as it is written here: the delimiter ends the first cell.
  if (input.declared) yield ['sep=', '']
  yield layout.header
  try {
    for await (const row of input.rows(signal ? { signal } : {})) {
      onRow()
      yield outputRow(row, await results.of(row.ordinal), layout, fields)
    }
    await results.expectNoMore()
  } finally {
    await results.close()
  }
}

function outputRow(
  row: CsvRow,
  result: RowResult | undefined,
  layout: OutputLayout,
  fields: readonly string[],
): string[] {
  const status = row.problem === undefined ? (result?.status ?? 'queued') : 'rejected'
  const reason = row.problem ?? (result ? result.reason : 'not reached by this run')
  const patch = row.problem === undefined ? (result?.patch ?? {}) : {}
  const cells = layout.inputCells(row.cells)
  fields.forEach((field, index) => {
    cells.push(valueOf(patch[field]) ?? layout.earlierValue(row.cells, index))
  })
  cells.push(status, guardFormula(reason ?? ''), result?.enrichedAt?.toISOString() ?? '')
  return cells
}

function valueOf(change: FieldChange | undefined): string | undefined {
  if (change === undefined) return undefined
  if ('clear' in change) return ''
  if ('restore' in change) return String(change.restore)
  return typeof change.set === 'string' ? guardFormula(change.set) : String(change.set)
}

/** Walks through results and rows in parallel. Both ascend, so only one result is in memory at a time. */
function resultsByRow({ input, results }: WriteEnrichedOptions) {
  const iterator =
    Symbol.asyncIterator in results ? results[Symbol.asyncIterator]() : results[Symbol.iterator]()
  let next: RowResult | undefined
  let last = 0
  let ended = false

  async function peek(): Promise<RowResult | undefined> {
    if (next || ended) return next
    const step = await iterator.next()
    if (step.done) {
      ended = true
      return undefined
    }
    if (step.value.ordinal <= last) throw foreign(`ordinal ${step.value.ordinal} comes behind ${last}`)
    last = step.value.ordinal
    return (next = step.value)
  }

  function foreign(what: string): InputError {
    return new InputError(
      'csv_foreign_results',
      `${input.path}: the results are not those of this file (${what})`,
    )
  }

  return {
    async of(ordinal: number): Promise<RowResult | undefined> {
      const result = await peek()
      if (result?.ordinal !== ordinal) return undefined
      next = undefined
      return result
    },
    async expectNoMore() {
      const result = await peek()
      if (result) throw foreign(`there is one for row ${result.ordinal} of ${input.rowCount}`)
    },
    async close() {
      if (!ended) await iterator.return?.()
    },
  }
}
