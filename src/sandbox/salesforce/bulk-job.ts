import { parseCsv } from './bulk/csv.ts'
import type { SaveError } from './errors.ts'
import type { SalesforceType } from './schema.ts'

export const DELIMITERS = {
  BACKQUOTE: '`',
  CARET: '^',
  COMMA: ',',
  PIPE: '|',
  SEMICOLON: ';',
  TAB: '\t',
} as const
export const LINE_ENDS = { LF: '\n', CRLF: '\r\n' } as const

export interface Job {
  readonly info: JobInfo
  state: 'Open' | 'UploadComplete' | 'InProgress' | 'JobComplete' | 'Aborted' | 'Failed'
  polls: number
  errorMessage: string | undefined
  processed: number
  failed: number
  rows: string[][]
  csv: string | undefined
  successful: string[][]
  failures: string[][]
  unprocessed: string[][]
}

export interface JobInfo {
  readonly id: string
  readonly operation: 'update' | 'query' | 'queryAll'
  readonly object: SalesforceType
  readonly columnDelimiter: keyof typeof DELIMITERS
  readonly lineEnding: keyof typeof LINE_ENDS
  readonly query: string | undefined
  readonly createdAtMs: number
}

/** Reads the uploaded text into rows. Returns the reason when the whole job fails. */
export function readRows(job: Job): string | undefined {
  const text = job.csv ?? ''
  const isCrlf = /\r\n/.test(text)
  if (isCrlf !== (job.info.lineEnding === 'CRLF') && text.includes('\n'))
    return (
      'InvalidBatch : Field name not found : LineEnding is invalid on user data. Current LineEnding setting is ' +
      job.info.lineEnding
    )
  const rows = safeRows(job)
  if (!rows[0]?.some((name) => name.toLowerCase() === 'id')) return 'InvalidBatch : Field name not found : Id'
  job.rows = rows
  return undefined
}

export function safeRows(job: Job): string[][] {
  try {
    return parseCsv(job.csv ?? '', DELIMITERS[job.info.columnDelimiter])
  } catch {
    return []
  }
}

/** In an upload an empty cell leaves the field unchanged; only `#N/A` clears it. */
export function csvValues(header: readonly string[], row: readonly string[]): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [at, name] of header.entries()) {
    const cell = row[at] ?? ''
    if (name.toLowerCase() === 'id' || cell === '') continue
    values[name] = cell === '#N/A' ? null : cell
  }
  return values
}

/** Returns one error in the form of a failed-results row. */
export function bulkError({ statusCode, message, fields }: SaveError): string {
  return `${statusCode}:${message}:${fields.join(',')} --`
}

export function headerOf(job: Job): string[] {
  return job.rows[0] ?? safeRows(job)[0] ?? []
}
