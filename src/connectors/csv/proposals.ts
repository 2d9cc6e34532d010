import { canonicalProfileUrl } from '../../domain/keys.ts'
import { registrableDomain } from '../../domain/normalise/domain.ts'
import { canonicalEmail } from '../../domain/normalise/email.ts'
import type { ObjectKind } from '../../domain/words.ts'
import { cellText } from './cell-text.ts'
import { mapOption, shown } from './column-map.ts'
import { foldName, type IdentityField } from './column-names.ts'

/** A column whose values look like those of a field that no column was recognised for. */
export interface ProposedColumn {
  field: IdentityField
  column: string
  /** So many of the values in the first rows look like the field. */
  alike: number
  values: number
  /** The option that reads the column as the field. */
  option: string
}

const whats: Partial<Record<IdentityField, string>> = {
  profileUrl: 'profile URLs',
  email: 'e-mail addresses',
  domain: 'domains',
}

/**
 * Proposes columns for the fields that can be told by their values alone. A recognised column gives way only where none of
 * its values can be read. Each column is proposed once, and none that is read already.
 */
export function proposeColumns(
  columns: readonly string[],
  found: Partial<Record<IdentityField, number | undefined>>,
  rows: readonly (readonly string[])[],
  { object, map }: { object: ObjectKind; map?: Partial<Record<IdentityField, string>> | undefined },
): ProposedColumn[] {
  const taken = new Set(Object.values(found).filter((index) => index !== undefined))
  const proposed: ProposedColumn[] = []
  for (const [field, looksAlike] of testsOf(object)) {
    // The user has said which column it is, or that there is none.
    if (map?.[field] !== undefined) continue
    const present = found[field]
    if (present !== undefined && count(rows, present, field, looksAlike).alike > 0) continue
    const best = [...columns.keys()]
      .filter((index) => !taken.has(index))
      .map((index) => ({ index, ...count(rows, index, field, looksAlike) }))
      .filter(({ alike, values }) => alike * 2 > values && alike >= Math.min(2, rows.length))
      .sort((a, b) => b.alike - a.alike || a.index - b.index)[0]
    if (!best) continue
    taken.add(best.index)
    const name = (columns[best.index] as string).trim()
    const isAlone = columns.filter((column) => foldName(column) === foldName(name)).length === 1
    const option = mapOption(field, name === '' || !isAlone ? `#${best.index + 1}` : name)
    proposed.push({ field, column: name, alike: best.alike, values: best.values, option })
  }
  return proposed
}

/** Returns the proposals as one sentence with the options to add, or undefined where there are none. */
export function proposalText(proposed: readonly ProposedColumn[]): string | undefined {
  if (proposed.length === 0) return undefined
  const looks = proposed.map(
    ({ field, column, alike, values }) =>
      `column ${shown(column)} looks like ${whats[field]} (${alike} of the first ${values} values)`,
  )
  return `${looks.join('; ')}: add ${proposed.map(({ option }) => option).join(' ')}`
}

/** Returns a question where a column holds profiles of the other object, and none holds those of this one. */
export function otherObjectText(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  object: ObjectKind,
): string | undefined {
  const other: ObjectKind = object === 'company' ? 'person' : 'company'
  const [proposed] = proposeColumns(columns, {}, rows, { object: other })
  if (proposed?.field !== 'profileUrl') return undefined
  const whose = other === 'company' ? 'companies' : 'people'
  return `column ${shown(proposed.column)} looks like profile URLs of ${whose}: is --object ${other} ${proposed.option} meant?`
}

function testsOf(object: ObjectKind): [IdentityField, (text: string) => boolean][] {
  const profile = (text: string) => canonicalProfileUrl(object, text).ok
  return object === 'person'
    ? [
        ['profileUrl', profile],
        ['email', (text) => text.includes('@') && canonicalEmail(text).ok],
      ]
    : [
        ['profileUrl', profile],
        ['domain', looksLikeDomain],
      ]
}

function looksLikeDomain(text: string): boolean {
  if (/[@\s]/.test(text) || !/\.[a-z]{2,}(?:[/:?]|$)/i.test(text)) return false
  const isProfile = canonicalProfileUrl('company', text).ok || canonicalProfileUrl('person', text).ok
  return !isProfile && registrableDomain(text).ok
}

function count(
  rows: readonly (readonly string[])[],
  index: number,
  field: IdentityField,
  looksAlike: (text: string) => boolean,
): { alike: number; values: number } {
  const values = rows.map((cells) => cellText(cells[index], field)).filter((text) => text !== '')
  return { alike: values.filter(looksAlike).length, values: values.length }
}
