import { messages, type PGlite } from '@electric-sql/pglite'

/**
 * Postgres' protocol as far as a prepared statement needs it. PGlite's own writer measures and its reader copies each value in
 * JavaScript, which took a sixth of the time of all statements.
 */

/** The bytes that bind these texts to a prepared statement and run it. Its rows come as text. */
export function bindAndExecute(name: string, values: readonly (string | null)[]): Buffer {
  const lengths = values.map((value) => (value === null ? -1 : Buffer.byteLength(value)))
  const valueBytes = lengths.reduce((sum, length) => sum + 4 + Math.max(length, 0), 0)
  const bindBytes = 4 + 1 + Buffer.byteLength(name) + 1 + 2 + 2 + valueBytes + 2
  const bytes = Buffer.alloc(1 + bindBytes + executeBytes)
  bytes.write('B', 0)
  // The portal has no name, and every value is text.
  let at = bytes.writeInt32BE(bindBytes, 1) + 1
  at += bytes.write(name, at) + 1
  at = bytes.writeUInt16BE(values.length, at + 2)
  for (const [index, value] of values.entries()) {
    at = bytes.writeInt32BE(lengths[index] as number, at)
    if (value !== null) at += bytes.write(value, at)
  }
  at += 2
  bytes.write('E', at)
  bytes.writeInt32BE(executeBytes - 1, at + 1)
  return bytes
}

/** Portal without a name, all rows. */
const executeBytes = 1 + 4 + 1 + 4

export interface Column {
  name: string
  read(text: string): unknown
}

/** The columns of a prepared statement, with how PGlite reads their types. */
export function columnsOf(client: PGlite, fields: readonly { name: string; dataTypeID: number }[]): Column[] {
  return fields.map(({ name, dataTypeID }) => {
    const parser = client.parsers[dataTypeID]
    const read = (text: string): unknown => (parser ? parser(text, dataTypeID) : text)
    if (dataTypeID !== textArray) return { name, read }
    return { name, read: (text) => plainTexts(text) ?? read(text) }
  })
}

/** Postgres' number of `text[]`, which PGlite does not name. */
const textArray = 1_009

/** Reads a list in which Postgres has quoted no text, and undefined of others; PGlite reads any list letter by letter. */
function plainTexts(list: string): string[] | undefined {
  if (list === '{}') return []
  if (!/^\{[^{}"\\]*\}$/.test(list) || /null/i.test(list)) return undefined
  return list.slice(1, -1).split(',')
}

/** The rows of one statement, and what each command of its exchange says that it has done. */
export interface Answered {
  rows: Record<string, unknown>[]
  tags: string[]
}

/** Reads what the database sent for an exchange. Throws its error, as PGlite does. */
export function readAnswer(bytes: Buffer, columns: readonly Column[]): Answered {
  const answered: Answered = { rows: [], tags: [] }
  for (let at = 0; at < bytes.length;) {
    const code = bytes[at]
    const start = at + 5
    at += 1 + bytes.readInt32BE(at + 1)
    if (code === codes.dataRow) answered.rows.push(readRow(bytes, start, columns))
    else if (code === codes.commandComplete) answered.tags.push(bytes.toString('latin1', start, at - 1))
    else if (code === codes.error) throw readError(bytes.subarray(start, at))
  }
  return answered
}

const codes = { dataRow: 0x44, commandComplete: 0x43, error: 0x45 }

function readRow(bytes: Buffer, start: number, columns: readonly Column[]): Record<string, unknown> {
  const row: Record<string, unknown> = {}
  let at = start + 2
  for (const { name, read } of columns) {
    const length = bytes.readInt32BE(at)
    at += 4
    row[name] = length < 0 ? null : read(bytes.toString('utf8', at, at + length))
    at += Math.max(length, 0)
  }
  return row
}

const errorFields = {
  S: 'severity',
  C: 'code',
  D: 'detail',
  H: 'hint',
  P: 'position',
  p: 'internalPosition',
  q: 'internalQuery',
  W: 'where',
  s: 'schema',
  t: 'table',
  c: 'column',
  d: 'dataType',
  n: 'constraint',
  F: 'file',
  L: 'line',
  R: 'routine',
} as const

function readError(bytes: Buffer): Error {
  const fields = bytes.toString('utf8').split('\0').filter(Boolean)
  const text = new Map(fields.map((field) => [field.slice(0, 1), field.slice(1)]))
  const error = new messages.DatabaseError(text.get('M') ?? 'no message', bytes.length, 'error')
  for (const [letter, name] of Object.entries(errorFields)) error[name] = text.get(letter)
  return error
}
