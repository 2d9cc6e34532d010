import { countryCode } from '../normalise/country.ts'

const plain = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i
/** Groups that no country writes as a decimal mark. */
const alwaysGroups = /(?<=\d)[ _'\u2019\u00a0\u202f](?=\d{3}(?:\D|$))/g
/** Longer texts are no numbers that a person wrote. */
const mostDigits = 60

/**
 * Returns the number that a text means, or undefined when it is none. `country` (code or name) decides what a point or comma
 * before three digits is: `1.000` is a thousand in Germany and one in the United States. Without a country a comma groups,
 * and so do points where there are several; a single point is a decimal point.
 */
export function parseNumber(text: string, country?: string): number | undefined {
  const trimmed = text.trim()
  if (trimmed.length > mostDigits) return undefined
  const marks = marksOf(country)
  const bare = withoutGroups(trimmed.replaceAll(alwaysGroups, ''), marks)
  if (bare === undefined || !plain.test(bare)) return undefined
  const number = Number(bare)
  // Adding 0 turns -0 into 0.
  return Number.isFinite(number) ? number + 0 : undefined
}

interface Marks {
  group: '.' | ',' | undefined
  decimal: '.' | ','
}

/** Returns the text with a decimal point and without group marks, or undefined where the marks are at no group's place. */
function withoutGroups(text: string, { group, decimal }: Marks): string | undefined {
  // A machine's text with several points can only be grouped.
  if (/^[+-]?\d{1,3}(?:\.\d{3}){2,}$/.test(text)) return text.replaceAll('.', '')
  if (decimal === ',') {
    const grouped = /^[+-]?\d{1,3}(?:\.\d{3})+(?:,\d+)?$/.test(text) && group === '.'
    const bare = grouped ? text.replaceAll('.', '') : text
    return bare.includes(',') ? bare.replace(',', '.') : bare
  }
  return text.replaceAll(/(?<=\d),(?=\d{3}(?:\D|$))/g, '')
}

const known = new Map<string, Marks>()

/** Returns the marks of a country's own language, from the CLDR data of the platform. */
function marksOf(country: string | undefined): Marks {
  const region = country === undefined ? undefined : countryCode(country)
  if (region === undefined) return { group: ',', decimal: '.' }
  const found = known.get(region)
  if (found) return found
  const parts = new Intl.NumberFormat(new Intl.Locale(`und-${region}`).maximize().toString(), {
    numberingSystem: 'latn',
    useGrouping: 'always',
  }).formatToParts(1_234_567.8)
  const mark = (type: 'group' | 'decimal') => parts.find((part) => part.type === type)?.value
  const group = mark('group')
  const marks: Marks = {
    group: group === '.' || group === ',' ? group : undefined,
    decimal: mark('decimal') === ',' ? ',' : '.',
  }
  known.set(region, marks)
  return marks
}
