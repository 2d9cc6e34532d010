import { foldName } from './column-names.ts'
import type { Delimiter } from './dialect.ts'

const closing = ['paydirt_status', 'paydirt_reason', 'paydirt_enriched_at'] as const
export const ourPrefix = 'paydirt_'

/**
 * The order of input columns and filled columns in the output.
 *
 * - Every input column comes first, unchanged and in order, except those of an earlier output of ours: the three
 * closing columns and `paydirt_<field>` of a field that is filled now. They are written again at the end.
 * - Columns that an earlier run filled under their bare names look like the user's own, so they are input columns now.
 * A field whose name an input column has is filled as `paydirt_<field>`.
 * - Where this run has no value for a field, the one in `paydirt_<field>` of an earlier output stays: a "not found"
 * never replaces a value.
 */
export interface OutputLayout {
  header: string[]
  /** Returns the input cells of a row, one for each kept input column. */
  inputCells(cells: readonly string[]): string[]
  /** Returns the value of the n-th field in an earlier output; blank when there was none. */
  earlierValue(cells: readonly string[], fieldIndex: number): string
}

export function layOut(
  columns: readonly string[],
  fields: readonly string[],
  delimiter: Delimiter,
): OutputLayout {
  const ours = new Set<string>([...closing, ...fields.map((field) => `${ourPrefix}${field}`)])
  const kept = [...columns.keys()].filter(
    (index) => !ours.has((columns[index] as string).trim().toLowerCase()),
  )
  const taken = new Set(kept.map((index) => foldName(columns[index] as string)))
  const earlier = fields.map((field) =>
    columns.findIndex((column) => column.trim().toLowerCase() === `${ourPrefix}${field}`),
  )
  const filled = fields.map((field) => (taken.has(foldName(field)) ? `${ourPrefix}${field}` : field))

  return {
    header: [...kept.map((index) => columns[index] as string), ...filled, ...closing],

    inputCells(cells) {
      const row = kept.map((index) => cells[index] ?? '')
      // Surplus cells mostly come from an unquoted delimiter in the last column: joining them loses nothing.
      if (cells.length > columns.length)
        row.push([row.pop() ?? '', ...cells.slice(columns.length)].join(delimiter))
      return row
    },

    earlierValue(cells, fieldIndex) {
      const index = earlier[fieldIndex] as number
      return (index === -1 ? undefined : cells[index]) ?? ''
    },
  }
}
