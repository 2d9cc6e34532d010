import { ConfigError } from '../../domain/errors.ts'
import { nearestName } from '../../domain/normalise/near-names.ts'
import type { Identity } from '../../domain/record.ts'

/** The column of each identifying field as the user named it: by its name, or `#3` by its place. Blank: no column at all. */
export type ColumnMap = Partial<Record<keyof Identity, string>>

/** The field's word on the command line, and further spellings that are understood. */
const words: Record<keyof Identity, readonly [string, ...string[]]> = {
  profileUrl: ['profile', 'profileurl', 'profneturl', 'url'],
  domain: ['domain', 'website'],
  email: ['email', 'mail'],
  phone: ['phone', 'mobile'],
  firstName: ['first_name', 'firstname'],
  lastName: ['last_name', 'lastname'],
  company: ['company', 'companyname'],
  companyId: ['company_id', 'domainsearchid'],
  tiktokUrl: ['tiktok', 'tiktokurl'],
  wantedlyUrl: ['wantedly', 'wantedlyurl'],
  tw104Url: ['tw104', 'tw104url'],
  rocketpunchUrl: ['rocketpunch', 'rocketpunchurl'],
  rememberUrl: ['remember', 'rememberurl'],
  youtrustUrl: ['youtrust', 'youtrusturl'],
}
const fieldOfWord = new Map(
  Object.entries(words).flatMap(([field, spellings]) =>
    spellings.map((word) => [plain(word), field as keyof Identity]),
  ),
)

/** Returns the word for an identifying field on the command line. */
export function mapFieldOf(field: keyof Identity): string {
  return words[field][0]
}

/**
 * Reads `profile=LinkedIn URL,email=E-Mail`. A comma separates two columns only where another `field=` follows it, so that
 * names with commas can be given. Throws ConfigError for what is not of this form.
 */
export function parseColumnMap(texts: readonly string[]): ColumnMap {
  const map: ColumnMap = {}
  const pairs = texts.flatMap((text) => text.split(/,(?=\s*[\p{L}_ -]{1,20}=)/u))
  for (const pair of pairs) {
    const at = pair.indexOf('=')
    if (at === -1)
      throw refused(`${shown(pair)} has no "="; write it as --map 'profile=LinkedIn URL,email=E-Mail'`)
    const word = pair.slice(0, at).trim()
    const field = fieldOfWord.get(plain(word))
    if (field === undefined) throw refused(unknownField(word))
    if (map[field] !== undefined) throw refused(`${mapFieldOf(field)} is given twice`)
    map[field] = pair.slice(at + 1).trim()
  }
  return map
}

/** Returns the option that reads a column as a field, quoted for a shell. */
export function mapOption(field: keyof Identity, column: string): string {
  return `--map ${shellQuoted(`${mapFieldOf(field)}=${column}`)}`
}

export function shellQuoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/** Quotes and shortens a header, so that it cannot write control sequences to the terminal. */
export function shown(name: string): string {
  return JSON.stringify(name.length > 40 ? `${name.slice(0, 40)}…` : name)
}

function unknownField(word: string): string {
  const known = Object.values(words).map(([name]) => name)
  const near = nearestName([word], known)
  return `${shown(word)} is no field that a row is found by${near ? `; is ${near.known} meant?` : '.'} The fields are ${known.join(', ')}`
}

function refused(why: string): ConfigError {
  return new ConfigError('bad_map', `--map: ${why}`)
}

function plain(word: string): string {
  return word.toLowerCase().replace(/[^a-z]/g, '')
}
