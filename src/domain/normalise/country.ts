import { letters } from './near-names.ts'

const names = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' })

/** Not countries: unions, unknown and test regions that CLDR names as well. */
const notCountries = new Set(['EU', 'EZ', 'UN', 'QO', 'XA', 'XB', 'ZZ'])

/** Common names that CLDR spells differently. */
const otherNames: Record<string, string> = {
  usa: 'US',
  unitedstatesofamerica: 'US',
  america: 'US',
  uk: 'GB',
  greatbritain: 'GB',
  england: 'GB',
  scotland: 'GB',
  wales: 'GB',
  northernireland: 'GB',
  hongkong: 'HK',
  macao: 'MO',
  macau: 'MO',
  myanmar: 'MM',
  burma: 'MM',
  turkey: 'TR',
  czechrepublic: 'CZ',
  ivorycoast: 'CI',
  republicofkorea: 'KR',
  korea: 'KR',
  russianfederation: 'RU',
  vietnam: 'VN',
  holland: 'NL',
  thenetherlands: 'NL',
  uae: 'AE',
  palestine: 'PS',
  congo: 'CG',
  democraticrepublicofthecongo: 'CD',
  swaziland: 'SZ',
  macedonia: 'MK',
  capeverde: 'CV',
  easttimor: 'TL',
  peoplesrepublicofchina: 'CN',
}

const codeByName = new Map<string, string>()
for (const first of 'ABCDEFGHIJKLMNOPQRSTUVWXYZ') {
  for (const second of 'ABCDEFGHIJKLMNOPQRSTUVWXYZ') {
    const code = first + second
    const name = names.of(code)
    if (name && isCountry(code)) codeByName.set(letters(name), code)
  }
}

/** Returns the two-letter ISO code of a country given by code or English name, or undefined when it is none. */
export function countryCode(text: string): string | undefined {
  if (text.length > 100) return undefined
  // "Not available", and not Namibia.
  if (/^\s*n\s*[./]\s*a\s*\.?\s*$/i.test(text)) return undefined
  const word = letters(text)
  if (/^[a-z]{2}$/.test(word)) {
    if (!codeByCode.has(word)) codeByCode.set(word, currentCode(word))
    return codeByCode.get(word)
  }
  return codeByName.get(word) ?? otherNames[word]
}

/** The codes that were asked for: at most 676, and each takes longer to find out than all else here. */
const codeByCode = new Map<string, string | undefined>()

/** UK, SU, DD and other withdrawn codes are read as their successors. */
function currentCode(word: string): string | undefined {
  const code = new Intl.Locale(`und-${word}`).region
  return code && isCountry(code) && names.of(code) ? code : undefined
}

/** Returns the English name of a country given by code or name, or undefined when it is none. */
export function countryName(text: string): string | undefined {
  const code = countryCode(text)
  return code && names.of(code)
}

function isCountry(code: string): boolean {
  return !notCountries.has(code) && new Intl.Locale(`und-${code}`).region === code
}
