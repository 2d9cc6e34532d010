import { ConfigError, InputError } from '../../domain/errors.ts'
import { canonicalProfileUrl } from '../../domain/keys.ts'
import type { Identity } from '../../domain/record.ts'
import { normalForm } from '../../domain/normalise/normal-form.ts'
import { networkWord, type ObjectKind } from '../../domain/words.ts'
import { nearestName } from './nearest-name.ts'

export type IdentityField = keyof Identity

/** Further names of input columns from the configuration. They take precedence over the built-in ones. */
export type Synonyms = Partial<Record<IdentityField, readonly string[]>>

export interface ColumnOptions {
  object: ObjectKind
  /** The network's name as users write it in column names; `profnet` is always known. */
  networkName?: string
  synonyms?: Synonyms
}

/** The index of each identifying field in a row; undefined when no column was recognised for it. */
export type RecognisedColumns = Record<IdentityField, number | undefined>

const otherNames: Record<Exclude<IdentityField, 'profileUrl' | 'company'>, readonly string[]> = {
  domain: [
    'domain',
    'company_domain',
    'domain_name',
    'company_domain_name',
    'website',
    'company_website',
    'website_url',
    'company_url',
    'web',
    'homepage',
  ],
  email: ['email', 'email_address', 'work_email', 'business_email', 'primary_email'],
  phone: ['phone', 'phone_number', 'mobile', 'mobile_phone', 'telephone'],
  firstName: ['first_name', 'given_name', 'forename'],
  lastName: ['last_name', 'surname', 'family_name'],
}
const companyNames = ['company', 'company_name', 'account_name', 'account', 'organization', 'organisation']
const kindWords: Record<ObjectKind, readonly string[]> = {
  company: ['company', 'account', 'organization', 'organisation'],
  person: ['person', 'people', 'contact', 'lead', 'member'],
}
/** At least one of these must be present: otherwise no row could be identified. */
const identifying: Record<ObjectKind, readonly IdentityField[]> = {
  company: ['profileUrl', 'domain', 'company'],
  person: ['profileUrl', 'email', 'phone', 'firstName', 'lastName'],
}
export const identityFields = [
  'profileUrl',
  'domain',
  'email',
  'phone',
  'firstName',
  'lastName',
  'company',
] as const satisfies readonly IdentityField[]

/** Column names are compared without regard to case, punctuation and white space. */
export function foldName(name: string): string {
  return normalForm('NFKC', name)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '')
}

/** Returns the names under which a field's column is searched for, the strongest first. */
export function namesOf(field: IdentityField, options: ColumnOptions): string[] {
  const { object, synonyms } = options
  const own = synonyms?.[field] ?? []
  if (field === 'profileUrl') return [...own, ...profileNames(object, options.networkName ?? networkWord)]
  if (field === 'company') return [...own, ...companyNames, ...(object === 'company' ? ['name'] : [])]
  return [...own, ...otherNames[field]]
}

/** Returns how many of the names are recognised. The delimiter is detected by this number. */
export function countRecognised(names: readonly string[], options: ColumnOptions): number {
  const known = new Set(identityFields.flatMap((field) => namesOf(field, options)).map(foldName))
  return names.filter((name) => known.has(foldName(name))).length
}

/**
 * Finds the columns that identify a record. `where` is the file and line of the header, for messages. Throws InputError
 * for a duplicate name, and ConfigError when no column identifies the object.
 */
export function recogniseColumns(
  columns: readonly string[],
  options: ColumnOptions,
  where: string,
): RecognisedColumns {
  refuseSameName(columns, (name) => name.trim(), where)
  const found = Object.fromEntries(
    identityFields.map((field) => [field, findColumn(columns, field, options, where)]),
  ) as RecognisedColumns
  if (identifying[options.object].every((field) => found[field] === undefined))
    throw nothingRecognised(columns, options, where)
  return found
}

/** Returns warnings about a file that can be read: no column to look records up by, or a misspelt one. */
export function missingProfileUrl(
  columns: readonly string[],
  found: RecognisedColumns,
  options: ColumnOptions,
): string | undefined {
  if (found.profileUrl !== undefined) return undefined
  const names = namesOf('profileUrl', options)
  const near = nearestName(columns, names)
  return (
    `no column holds a profile URL, so the recipe profile finds nothing here (contact and full also find rows otherwise); it would be found as ${names.slice(0, 3).join(', ')}` +
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
  const urls = rows.map((cells) => cells[column]?.trim() ?? '').filter((url) => url !== '')
  if (urls.some((url) => canonicalProfileUrl(object, url).ok)) return undefined
  const others = urls.filter((url) => canonicalProfileUrl(other, url).ok).length
  if (others === 0) return undefined
  const kind = other === 'company' ? 'companies' : 'people'
  return `${others} of the first ${urls.length} profile URLs are those of ${kind} and none is of a ${object}: is --object ${other} meant?`
}

/** Returns the identifying values of a row, trimmed, without blanks. */
export function identityOf(cells: readonly string[], found: RecognisedColumns): Identity {
  const identity: Identity = {}
  for (const field of identityFields) {
    const column = found[field]
    const value = column === undefined ? '' : (cells[column]?.trim() ?? '')
    if (value !== '') identity[field] = value
  }
  return identity
}

function profileNames(object: ObjectKind, networkName: string): string[] {
  const kinds = kindWords[object]
  const networks = [...new Set([networkWord, networkName.toLowerCase()])]
  return [
    ...networks.map((network) => `${network}_url`),
    'profile_url',
    ...kinds.flatMap((kind) => [
      ...networks.flatMap((network) => [`${kind}_${network}_url`, `${network}_${kind}_url`]),
      `${kind}_profile_url`,
      `${kind}_profile`,
    ]),
    ...networks.flatMap((network) => [
      `${network}_profile_url`,
      `${network}_profile`,
      `${network}_link`,
      ...kinds.flatMap((kind) => [
        `${kind}_${network}`,
        `${network}_${kind}`,
        `${network}_${kind}_page`,
        `${network}_${kind}_profile`,
      ]),
      network,
    ]),
    'profile_link',
    'profile',
  ]
}

function findColumn(
  columns: readonly string[],
  field: IdentityField,
  options: ColumnOptions,
  where: string,
): number | undefined {
  const folded = columns.map(foldName)
  for (const name of namesOf(field, options).map(foldName)) {
    const index = folded.indexOf(name)
    if (index === -1) continue
    // It is not known which of the two spellings is meant, and the wrong one would be paid for.
    refuseSameName(columns, (column) => (foldName(column) === name ? name : undefined), where)
    return index
  }
  return undefined
}

/** Columns without a name are allowed: spreadsheets leave them at the end of rows. */
function refuseSameName(
  columns: readonly string[],
  sameBy: (name: string) => string | undefined,
  where: string,
): void {
  const seen = new Map<string, number>()
  for (const [index, column] of columns.entries()) {
    const key = sameBy(column)
    if (key === undefined || key === '') continue
    const first = seen.get(key)
    if (first === undefined) {
      seen.set(key, index)
      continue
    }
    throw new InputError(
      'csv_duplicate_column',
      `${where}: columns ${first + 1} (${shown(columns[first] ?? '')}) and ${index + 1} (${shown(column)}) have the same name; rename one of them`,
      { details: { column: index + 1, sameAs: first + 1 } },
    )
  }
}

function nothingRecognised(columns: readonly string[], options: ColumnOptions, where: string): ConfigError {
  const dataAt = columns.findIndex((name) => /:\/\/|@|\.[a-z]{2,}\//i.test(name))
  if (dataAt !== -1)
    return new ConfigError(
      'csv_no_header',
      `${where}: column ${dataAt + 1} holds a value, not a name; the first line must name the columns`,
    )
  const wanted = identifying[options.object]
  const near = nearestName(
    columns,
    wanted.flatMap((field) => namesOf(field, options)),
  )
  const names = wanted.map((field) => namesOf(field, options).slice(0, 3).join(' or '))
  return new ConfigError(
    'csv_no_known_column',
    `${where}: no column tells which ${options.object} a row belongs to. ` +
      `Found: ${columns.slice(0, 30).map(shown).join(', ')}${columns.length > 30 ? ', …' : ''}. ` +
      `Recognised: ${names.join('; ')}.` +
      (near ? ` Is ${shown(near.name)} meant to be ${near.known}?` : ''),
  )
}

/** Quotes and shortens a header, so that it cannot write control sequences to the terminal. */
function shown(name: string): string {
  return JSON.stringify(name.length > 40 ? `${name.slice(0, 40)}…` : name)
}
