import { stat } from 'node:fs/promises'
import { InputError } from '../../domain/errors.ts'
import type { Identity } from '../../domain/record.ts'
import type { ObjectKind } from '../../domain/words.ts'
import type { ColumnMap } from './column-map.ts'
import type { ColumnOptions, IdentityField } from './column-names.ts'
import { columnWarnings, countRecognised, identityOf, recogniseColumns, wrongObjectHint } from './columns.ts'
import { valuesReader } from './filled-columns.ts'
import { detectDialect, sampleRows, type Dialect } from './dialect.ts'
import { encodingNamed, type TextForm } from './encoding.ts'
import { assertGoesOn, readRows, type CsvRow, type HeaderRow, type Source } from './read-rows.ts'
import { createReading, type CsvReading } from './reading.ts'
import { assertReadableFile, hashFile, readSample } from './text-file.ts'

export interface OpenCsvOptions extends ColumnOptions {
  /** The encoding as the user named it. Without it, a file is read by its byte order mark, or as UTF-8. */
  encoding?: string | undefined
}

export interface OpenedCsv extends Dialect {
  path: string
  object: ObjectKind
  /** True where the output begins with a byte order mark. It is UTF-8 whatever the input is, and says so if the input is not. */
  hasBom: boolean
  encoding: TextForm['encoding']
  /** The user's instructions for reading the file. */
  told: { map: ColumnMap; encoding: string | undefined }
  /** The columns and the fields they were read as, with the first rows before and after. */
  reading: CsvReading
  /** Differs between two readings of the same bytes; blank where neither the user nor the configuration said how to read them. */
  readAs: string
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
const proposalRows = 200
const fileChanged = 'it has changed since it was opened; start again with the file as it is now'

/**
 * Opens a CSV and reads it once, so that every fault that makes it unusable (bytes that are not text, a duplicate
 * column, an unclosed quote) is reported before anything is bought. Memory stays bounded for files of any length.
 * Throws ConfigError (no such file, nothing recognised) and InputError (with file and line).
 */
export async function openCsv(path: string, options: OpenCsvOptions): Promise<OpenedCsv> {
  const told = options.encoding === undefined ? undefined : encodingNamed(options.encoding)
  await assertReadableFile(path)
  const sample = await readSample(path, told)
  const dialect = detectDialect(sample.text, {
    whole: sample.whole,
    recognised: (names) => countRecognised(names, options),
  })
  const source: Source = { path, form: sample.form, dialect }
  const before = await fingerprint(path)
  const first = sampleRows(sample.text, dialect, proposalRows + 1).slice(1)
  const { header, found, rowCount, problemCount, firstRows, reading, sha256 } = await survey(
    source,
    options,
    first,
  )

  async function assertUnchanged() {
    if ((await fingerprint(path)) === before) return
    // A file that was only touched is the same file: its content counts.
    if ((await hashFile(path)) !== sha256) throw new InputError('csv_changed', `${path}: ${fileChanged}`)
  }

  async function* rows({ signal }: { signal?: AbortSignal | undefined } = {}) {
    await assertUnchanged()
    const pass = readRows(source, signal)
    for await (const batch of pass.batches)
      for (const row of batch) {
        assertGoesOn(signal)
        if (!('header' in row)) yield row
      }
    if (pass.sha256() !== sha256) throw new InputError('csv_changed', `${path}: ${fileChanged}`)
  }

  const nameAt = (index: number | undefined) => (index === undefined ? undefined : header[index])
  return {
    path,
    object: options.object,
    ...dialect,
    hasBom: sample.form.bomLength > 0 || sample.form.encoding !== 'utf-8',
    encoding: sample.form.encoding,
    told: { map: options.map ?? {}, encoding: told },
    reading,
    readAs: readAs(options, sample.form, found),
    columns: header,
    recognised: Object.fromEntries(
      Object.entries(found).map(([field, index]) => [field, nameAt(index)]),
    ) as OpenedCsv['recognised'],
    sha256,
    rowCount,
    problemCount,
    warnings: [
      ...(rowCount === 0 ? ['it has a header and no rows'] : []),
      ...(sample.warning === undefined ? [] : [sample.warning]),
      ...columnWarnings(header, found, first, options),
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

/** A run continues only under the reading under which it began: other columns would be other records. */
function readAs(
  { map = {}, synonyms = {} }: OpenCsvOptions,
  { encoding, isTold }: TextForm,
  found: Readonly<Record<IdentityField, number | undefined>>,
): string {
  if (!isTold && Object.keys(map).length === 0 && Object.keys(synonyms).length === 0) return ''
  return JSON.stringify([encoding, found])
}

async function survey(source: Source, options: ColumnOptions, first: readonly (readonly string[])[]) {
  const { path } = source
  const pass = readRows(source)
  const firstRows: string[][] = []
  let header: HeaderRow | undefined
  let found: ReturnType<typeof recogniseColumns> | undefined
  let reading: ReturnType<typeof createReading> | undefined
  let rowCount = 0
  let problemCount = 0
  for await (const batch of pass.batches)
    for (const row of batch) {
      if ('header' in row) {
        header = row
        found = recogniseColumns(row.header, options, `${path}, line ${row.line}`, first)
        reading = createReading(row.header, found, options)
        continue
      }
      reading?.add(row)
      rowCount++
      if (row.problem) problemCount++
      if (firstRows.length < hintRows) firstRows.push(row.cells)
    }
  if (!header || !found || !reading)
    throw new InputError(
      'csv_empty',
      `${path}, line 1: the file is empty; a line with column names is needed`,
    )
  const sha256 = pass.sha256() as string
  return {
    header: header.header,
    found,
    rowCount,
    problemCount,
    firstRows,
    reading: reading.end(),
    sha256,
  }
}

async function fingerprint(path: string): Promise<string> {
  const { dev, ino, size, mtimeNs } = await stat(path, { bigint: true })
  return [dev, ino, size, mtimeNs].join(':')
}
