import { askableProfileUrl, type Canonical } from '../../domain/keys.ts'
import { registrableDomain } from '../../domain/normalise/domain.ts'
import { canonicalEmail } from '../../domain/normalise/email.ts'
import { canonicalIdentifier } from '../../domain/planning/company-keys.ts'
import { furtherIdentifiers } from '../../domain/record.ts'
import { cellText } from './cell-text.ts'
import { mapFieldOf } from './column-map.ts'
import { foldName, identityFields, namesOf, type ColumnOptions, type IdentityField } from './column-names.ts'
import type { RecognisedColumns } from './columns.ts'

/** The way a file was read: which column as what, and the first rows before and after. */
export interface CsvReading {
  columns: ColumnReading[]
  /** The names of the columns that identify nothing. They are kept in the output. */
  unread: string[]
  samples: RowSample[]
}

interface ColumnReading {
  /** The field's word in `--map`. */
  field: string
  column: string
  by: 'name' | '--map' | 'paydirt.config.ts'
  /** The number of rows with a value, where `n/a` and the like are none. */
  rows: number
}

interface RowSample {
  line: number
  cells: { field: string; from: string; to: string | null; problem?: string | undefined }[]
}

const mostSamples = 3

/** Counts and samples the identifying columns while the rows pass by. Keeps three rows. */
export function createReading(
  columns: readonly string[],
  found: RecognisedColumns,
  options: ColumnOptions,
): {
  add(row: { line: number; cells: readonly string[]; problem?: string | undefined }): void
  end(): CsvReading
} {
  const places = identityFields.flatMap((field) => {
    const index = found[field]
    return index === undefined ? [] : [{ field, index, rows: 0 }]
  })
  const samples: RowSample[] = []
  return {
    add({ line, cells, problem }) {
      if (problem !== undefined) return
      for (const place of places) if (cellText(cells[place.index], place.field) !== '') place.rows += 1
      if (samples.length < mostSamples)
        samples.push({
          line,
          cells: places.map(({ field, index }) => sampleOf(field, cells[index] ?? '', options)),
        })
    },
    end: () => ({
      columns: places.map(({ field, index, rows }) => ({
        field: mapFieldOf(field),
        column: columns[index] ?? '',
        by: sourceOf(field, columns[index] ?? '', options),
        rows,
      })),
      unread: columns.filter((_, index) => !places.some((place) => place.index === index)),
      samples,
    }),
  }
}

function sourceOf(field: IdentityField, column: string, options: ColumnOptions): ColumnReading['by'] {
  if (options.map?.[field] !== undefined) return '--map'
  const isBuiltIn = namesOf(field, { ...options, synonyms: {} })
    .map(foldName)
    .includes(foldName(column))
  return isBuiltIn ? 'name' : 'paydirt.config.ts'
}

/** Returns a cell, and the value that the row is looked up by; null where it is blank or cannot be read. */
function sampleOf(field: IdentityField, cell: string, options: ColumnOptions): RowSample['cells'][number] {
  const text = cellText(cell, field)
  const [from, word] = [cell.slice(0, 200), mapFieldOf(field)]
  if (text === '') return { field: word, from, to: null }
  const read = canonicalOf(field, text, options)
  return read.ok
    ? { field: word, from, to: read.value }
    : { field: word, from, to: null, problem: read.reason }
}

function canonicalOf(field: IdentityField, text: string, { object, networkHosts }: ColumnOptions): Canonical {
  if (field === 'profileUrl') return askableProfileUrl(object, text, networkHosts)
  if (field === 'email') return canonicalEmail(text)
  if (field === 'domain') return registrableDomain(text)
  const further = furtherIdentifiers.find((each) => each.field === field)
  if (further) return canonicalIdentifier(further.name, text, networkHosts)
  return { ok: true, value: text.replace(/\s+/g, ' ') }
}
