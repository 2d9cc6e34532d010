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
  const means = told === undefined ? wanted : folded(told)
  return options.find(({ value, label }) => folded(value) === means || folded(label) === means)?.value
}

/** Returns the option that the mapping's own table names for a text. */
export function toldOption(text: string, table: Readonly<Record<string, string>> = {}): string | undefined {
  const wanted = folded(text)
  return wanted === '' ? undefined : Object.entries(table).find(([from]) => folded(from) === wanted)?.[1]
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
