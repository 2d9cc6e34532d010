import { foldName } from './columns.ts'
import type { Delimiter } from './dialect.ts'

const closing = ['paydirt_status', 'paydirt_reason', 'paydirt_enriched_at'] as const
const ourPrefix = 'paydirt_'

/**
 * How input columns and filled ones lie in the output.
 *
 * - Every input column comes first, unchanged and in order, except those that an earlier output of ours brought along:
 *   the three closing columns and `paydirt_<field>` of a field that is filled now. They are written anew at the end.
 * - Columns that an earlier run filled under their bare names cannot be told from the user's own, so they are input
 *   columns now. A field whose name is taken by an input column is filled as `paydirt_<field>`.
 * - Where this run has no value for a field, the one that an earlier output brought in `paydirt_<field>` stays: nothing
 *   found never replaces what was found.
 */
export interface OutputLayout {
  header: string[]
  /** The cells of a row as they were, brought to the width of the kept input columns. */
  inputCells(cells: readonly string[]): string[]
  /** The value of the n-th field in an earlier output; blank when there was none. */
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
      // Surplus cells mostly come from a delimiter that stood unquoted in the last column: joined, nothing is lost.
      const surplus = cells.slice(columns.length)
      if (surplus.length > 0) row.push([row.pop() ?? '', ...surplus].join(delimiter))
      return row
    },

    earlierValue(cells, fieldIndex) {
      const index = earlier[fieldIndex] as number
      return (index === -1 ? undefined : cells[index]) ?? ''
    },
  }
}
