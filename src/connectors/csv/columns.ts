import { ConfigError, InputError } from '../../domain/errors.ts'
import { canonicalProfileUrl } from '../../domain/keys.ts'
import { nearestName } from '../../domain/normalise/near-names.ts'
import { furtherIdentifiers, type Identity } from '../../domain/record.ts'
import type { ObjectKind } from '../../domain/words.ts'
import { cellText } from './cell-text.ts'
import { mapFieldOf, mapOption, shown, type ColumnMap } from './column-map.ts'
import { foldName, identityFields, namesOf, type ColumnOptions, type IdentityField } from './column-names.ts'
import { ourPrefix } from './output-columns.ts'
import { otherObjectText, proposalText, proposeColumns } from './proposals.ts'

/** The index of each identifying field in a row; undefined when no column was recognised for it. */
export type RecognisedColumns = Record<IdentityField, number | undefined>

/** At least one of these must be present: otherwise no row could be identified. */
const identifying: Record<ObjectKind, readonly IdentityField[]> = {
  company: ['profileUrl', 'domain', 'company', ...furtherIdentifiers.map(({ field }) => field)],
  person: ['profileUrl', 'email', 'phone', 'firstName', 'lastName'],
}

/** Returns how many of the names are recognised. The delimiter is detected by this number. */
export function countRecognised(names: readonly string[], options: ColumnOptions): number {
  const mapped = Object.values(options.map ?? {})
  const known = new Set(
    [...mapped, ...identityFields.flatMap((field) => namesOf(field, options))].map(foldName),
  )
  return names.filter((name) => known.has(foldName(name))).length
}

/**
 * Finds the columns that identify a record: those that the user named, then by name. `where` is the file and line of the
 * header, for messages; `rows` are the first ones, for a proposal. Columns that are not read may share a name: they are passed
 * through by their place. Throws InputError naming every duplicate among those that are read, and ConfigError when no column
 * identifies the object or there is none of a name that the user gave.
 */
export function recogniseColumns(
  columns: readonly string[],
  options: ColumnOptions,
  where: string,
  rows: readonly (readonly string[])[] = [],
): RecognisedColumns {
  const clashes = ofEarlierOutput(columns)
  const mapped = findMapped(columns, options.map ?? {}, where, clashes)
  const taken = new Set(mapped.values())
  const found = Object.fromEntries(
    identityFields.map((field) => [
      field,
      mapped.has(field) ? mapped.get(field) : findColumn(columns, field, taken, options, clashes),
    ]),
  ) as RecognisedColumns
  if (clashes.length > 0) throw sameName(columns, clashes, where)
  if (identifying[options.object].every((field) => found[field] === undefined))
    throw nothingRecognised(columns, options, where, rows)
  return found
}

/** Returns warnings about a file that can be read: no column to look records up by, a misspelt one, or one of another name. */
export function columnWarnings(
  columns: readonly string[],
  found: RecognisedColumns,
  rows: readonly (readonly string[])[],
  options: ColumnOptions,
): string[] {
  const proposed = proposeColumns(columns, found, rows, options)
  const proposal = proposalText(proposed)
  const missing = proposed.some(({ field }) => field === 'profileUrl')
    ? undefined
    : missingProfileUrl(columns, found, options)
  const other =
    missing === undefined || options.map?.profileUrl !== undefined
      ? undefined
      : otherObjectText(columns, rows, options.object)
  return [missing, proposal, other].filter((text) => text !== undefined)
}

function missingProfileUrl(
  columns: readonly string[],
  found: RecognisedColumns,
  options: ColumnOptions,
): string | undefined {
  if (found.profileUrl !== undefined || options.map?.profileUrl !== undefined) return undefined
  const names = namesOf('profileUrl', options)
  const near = nearestName(columns, names)
  return (
    `no column holds a profile URL, so the recipe profile finds nothing here (contact and full also find rows otherwise); it would be found as ${names.slice(0, 3).join(', ')}, or by --map profile=COLUMN` +
    (near ? `; is ${shown(near.name)} meant to be ${near.known}?` : '')
  )
}

/**
 * Returns a hint that the file contains the other kind of record: none of the given rows (the first 20 are enough) has
 * a profile URL of the object's kind, and some have one of the other kind. Each such row is also rejected by itself.
 */
export function wrongObjectHint(
  rows: readonly (readonly string[])[],
  found: RecognisedColumns,
  object: ObjectKind,
): string | undefined {
  const column = found.profileUrl
  if (column === undefined) return undefined
  const other: ObjectKind = object === 'company' ? 'person' : 'company'
  const urls = rows.map((cells) => cellText(cells[column], 'profileUrl')).filter((url) => url !== '')
  if (urls.some((url) => canonicalProfileUrl(object, url).ok)) return undefined
  const others = urls.filter((url) => canonicalProfileUrl(other, url).ok).length
  if (others === 0) return undefined
  const kind = other === 'company' ? 'companies' : 'people'
  return `${others} of the first ${urls.length} profile URLs are those of ${kind} and none is of a ${object}: is --object ${other} meant?`
}

/** Returns the identifying values of a row as they are meant, without blanks. */
export function identityOf(cells: readonly string[], found: RecognisedColumns): Identity {
  const identity: Identity = {}
  for (const field of identityFields) {
    const column = found[field]
    const value = column === undefined ? '' : cellText(cells[column], field)
    if (value !== '') identity[field] = value
  }
  return identity
}

/** Returns the columns that the user named. A field without a column is in the result as undefined. */
function findMapped(
  columns: readonly string[],
  map: ColumnMap,
  where: string,
  clashes: Clash[],
): Map<IdentityField, number | undefined> {
  const mapped = new Map<IdentityField, number | undefined>()
  for (const [field, name] of Object.entries(map) as [IdentityField, string][]) {
    const places = name === '' ? [] : placesOfNamed(columns, name)
    if (places.length > 1) clashes.push({ field, places })
    const index = name === '' ? undefined : (places[0] ?? -1)
    const option = `--map ${mapFieldOf(field)}`
    if (index === -1) {
      const near = nearestName([name], columns)
      throw new ConfigError(
        'csv_no_mapped_column',
        `${where}: there is no column ${shown(name)} (${option}). Found: ${listed(columns)}.` +
          (near ? ` Is ${shown(near.known)} meant?` : ''),
      )
    }
    const other = [...mapped].find(([, at]) => at !== undefined && at === index)?.[0]
    if (other !== undefined)
      throw new ConfigError(
        'csv_column_mapped_twice',
        `${where}: column ${shown(name)} is named for ${mapFieldOf(other)} and for ${mapFieldOf(field)}; a column is read as one of them`,
      )
    mapped.set(field, index)
  }
  return mapped
}

/** Returns the places of the columns of a name as it stands, else in any spelling, else by number (`#3`). */
function placesOfNamed(columns: readonly string[], name: string): number[] {
  const exact = placesWhere(columns, (column) => column.trim() === name)
  if (exact.length > 0) return exact
  const wanted = foldName(name)
  const folded = wanted === '' ? [] : placesWhere(columns, (column) => foldName(column) === wanted)
  if (folded.length > 0) return folded
  const place = Number(/^#(\d{1,5})$/.exec(name)?.[1] ?? 0)
  return place >= 1 && place <= columns.length ? [place - 1] : []
}

function findColumn(
  columns: readonly string[],
  field: IdentityField,
  taken: ReadonlySet<number | undefined>,
  options: ColumnOptions,
  clashes: Clash[],
): number | undefined {
  const folded = columns.map((name, index) => (taken.has(index) ? '' : foldName(name)))
  for (const name of namesOf(field, options).map(foldName)) {
    const places = placesWhere(folded, (column) => column === name)
    // It is not known which of the two is meant, and the wrong one would be paid for.
    if (places.length > 1) clashes.push({ field, places })
    if (places.length > 0) return places[0]
  }
  return undefined
}

/** Columns of which one is read, and whose names do not tell which. */
interface Clash {
  /** Absent for the columns of an earlier output, which are written again under the same name. */
  field?: IdentityField
  places: number[]
}

function ofEarlierOutput(columns: readonly string[]): Clash[] {
  const names = columns.map((column) => column.trim().toLowerCase())
  return [...new Set(names)]
    .filter((name) => name.startsWith(ourPrefix))
    .map((name) => ({ places: placesWhere(names, (each) => each === name) }))
    .filter(({ places }) => places.length > 1)
}

function placesWhere(columns: readonly string[], test: (column: string) => boolean): number[] {
  return [...columns.keys()].filter((index) => test(columns[index] as string))
}

function sameName(columns: readonly string[], clashes: readonly Clash[], where: string): InputError {
  const texts = clashes.map(({ field, places }) => {
    const each = places.map((place) => `${place + 1} (${shown(columns[place] as string)})`)
    const last = each.pop() as string
    const remedy =
      field === undefined
        ? 'rename or remove those that are not of the last output'
        : `choose one by its place, such as ${mapOption(field, `#${(places[0] as number) + 1}`)}, or rename the others`
    return `columns ${each.join(', ')} and ${last} have the same name: ${remedy}`
  })
  const [first = 0, second = 0] = clashes[0]?.places ?? []
  return new InputError('csv_duplicate_column', `${where}: ${texts.join('; ')}`, {
    details: { column: second + 1, sameAs: first + 1 },
  })
}

function nothingRecognised(
  columns: readonly string[],
  options: ColumnOptions,
  where: string,
  rows: readonly (readonly string[])[],
): ConfigError {
  const dataAt = columns.findIndex((name) => /:\/\/|@|\.[a-z]{2,}\//i.test(name))
  if (dataAt !== -1)
    return new ConfigError(
      'csv_no_header',
      `${where}: column ${dataAt + 1} holds a value, not a name; the first line must name the columns`,
    )
  const proposal =
    proposalText(proposeColumns(columns, {}, rows, options)) ?? otherObjectText(columns, rows, options.object)
  const wanted = identifying[options.object]
  const near = nearestName(
    columns,
    wanted.flatMap((field) => namesOf(field, options)),
  )
  const names = wanted.slice(0, 5).map((field) => namesOf(field, options).slice(0, 3).join(' or '))
  return new ConfigError(
    'csv_no_known_column',
    `${where}: no column tells which ${options.object} a row belongs to. ` +
      `Found: ${listed(columns)}. ` +
      `Recognised: ${names.join('; ')}, or by --map (--map 'profile=Name of a column').` +
      (proposal !== undefined
        ? ` But ${proposal}`
        : near
          ? ` Is ${shown(near.name)} meant to be ${near.known}?`
          : ''),
  )
}

function listed(columns: readonly string[]): string {
  return `${columns.slice(0, 30).map(shown).join(', ')}${columns.length > 30 ? ', …' : ''}`
}
