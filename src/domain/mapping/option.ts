import { letters } from '../normalise/near-names.ts'
import type { DescribedField } from './mapping.ts'

/**
 * Returns the value of the option that a text means: by value or label, ignoring letter case and punctuation, or by the
 * mapping's own table. `Hospital & Health Care` finds `HOSPITAL_HEALTH_CARE`.
 */
export function matchOption(
  text: string,
  field: Pick<DescribedField, 'options'>,
  table: Readonly<Record<string, string>> = {},
): string | undefined {
  const options = field.options ?? []
  const exact = options.find(({ value }) => value === text.trim())
  if (exact) return exact.value
  const wanted = folded(text)
  if (wanted === '') return undefined
  const told = toldOption(text, table)
  return valuesOf(options).get(told === undefined ? wanted : folded(told))
}

/** Returns the option that the mapping's own table names for a text. */
export function toldOption(text: string, table: Readonly<Record<string, string>> = {}): string | undefined {
  const wanted = folded(text)
  return wanted === '' ? undefined : toldBy(table).get(wanted)
}

/** A picklist has hundreds of options, and each record of a batch asks for one: they are folded once. The first option of a form counts. */
const valuesOf = foldedOnce((options: NonNullable<DescribedField['options']>) =>
  options.flatMap(({ value, label }) => [[value, value] as const, [label, value] as const]),
)
const toldBy = foldedOnce((table: Readonly<Record<string, string>>) => Object.entries(table))

function foldedOnce<List extends object>(
  pairsOf: (list: List) => readonly (readonly [string, string])[],
): (list: List) => ReadonlyMap<string, string> {
  const known = new WeakMap<List, ReadonlyMap<string, string>>()
  return (list) => {
    const before = known.get(list)
    if (before) return before
    const values = new Map<string, string>()
    for (const [text, value] of pairsOf(list)) {
      const form = folded(text)
      if (!values.has(form)) values.set(form, value)
    }
    known.set(list, values)
    return values
  }
}

/** Returns the options of a multiple choice: each text as a whole, else its parts. Unknown options are left out. */
export function matchOptions(
  texts: readonly string[],
  field: Pick<DescribedField, 'options'>,
  table: Readonly<Record<string, string>> = {},
): string[] {
  const found = texts.flatMap((text) => {
    const option = matchOption(text, field, table)
    if (option !== undefined) return [option]
    const parts = text.split(/[;|\n]/).length > 1 ? text.split(/[;|\n]/) : text.split(',')
    return parts.flatMap((part) => matchOption(part, field, table) ?? [])
  })
  return [...new Set(found)]
}

/** Drops `&` and `and`, which are the same word and make no difference. */
function folded(text: string): string {
  return letters(text.replace(/&|\band\b/gi, ' ').replaceAll(/_and_/gi, '_'))
}
