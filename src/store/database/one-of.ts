import { sql, type RawBuilder } from 'kysely'

/**
 * Whether a text column has one of these values. One parameter, however many there are: a list of parameters is a statement
 * of its own for each length, which has to be read and planned anew.
 */
export function isOneOf(column: string, values: Iterable<string>): RawBuilder<boolean> {
  return sql<boolean>`${sql.ref(column)} = any(${[...new Set(values)]}::text[])`
}
