import { InputError } from '../../../domain/errors.ts'

/** Returns a text literal. Its content cannot end it. */
export function soqlText(text: string): string {
  return `'${text.replace(/[\\'"\n\r\t\b\f]/g, (sign) => escapes[sign] as string)}'`
}

/** Returns a time literal, in whole milliseconds since the epoch. */
export function soqlTime(atMs: number): string {
  return new Date(atMs).toISOString()
}

/** Returns the name of a field, or of a parent's field (`Account.Name`). Throws for anything else. */
export function soqlName(name: string): string {
  if (/^[A-Za-z]\w*(\.[A-Za-z]\w*)?$/.test(name)) return name
  throw new InputError('soql_name', `not the name of a Salesforce field: ${JSON.stringify(name)}`)
}

export interface Statement {
  fields: readonly string[]
  from: string
  where: readonly string[]
  orderBy?: readonly string[]
  limit?: number
}

/** Returns a query. All conditions of `where` must be met; each is complete in itself. */
export function select({ fields, from, where, orderBy, limit }: Statement): string {
  return [
    `SELECT ${fields.map(soqlName).join(', ')} FROM ${soqlName(from)}`,
    ...(where.length > 0 ? [`WHERE ${where.join(' AND ')}`] : []),
    ...(orderBy ? [`ORDER BY ${orderBy.map(soqlName).join(', ')}`] : []),
    ...(limit === undefined ? [] : [`LIMIT ${limit}`]),
  ].join(' ')
}

/** Returns the query that counts the records of a statement. */
export function count({ from, where }: Statement): string {
  return [
    `SELECT COUNT() FROM ${soqlName(from)}`,
    ...(where.length > 0 ? [`WHERE ${where.join(' AND ')}`] : []),
  ].join(' ')
}

const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '"': '\\"',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\b': '\\b',
  '\f': '\\f',
}
