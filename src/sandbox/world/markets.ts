import { foldName } from '../data/fold.ts'

export interface Market {
  country: string
  name: string
  /** As in "German companies". */
  adjective: string
  cities: readonly [string, string]
}

const rows = [
  'US United_States American New_York Austin',
  'DE Germany German Berlin München',
  'FR France French Paris Lyon',
  'GB United_Kingdom British London Leeds',
  'JP Japan Japanese Tokyo Osaka',
  'KR South_Korea Korean Seoul Busan',
  'TW Taiwan Taiwanese Taipei Hsinchu',
  'IN India Indian Mumbai Pune',
  'BR Brazil Brazilian São_Paulo Recife',
  'AE United_Arab_Emirates Emirati Dubai Abu_Dhabi',
  'PL Poland Polish Warsaw Łódź',
  'UA Ukraine Ukrainian Kyiv Lviv',
  'SG Singapore Singaporean Singapore Jurong',
  'SE Sweden Swedish Stockholm Göteborg',
  'ES Spain Spanish Madrid Barcelona',
  'IT Italy Italian Milan Turin',
  'NL Netherlands Dutch Amsterdam Rotterdam',
  'MX Mexico Mexican Mexico_City Monterrey',
  'CA Canada Canadian Toronto Montréal',
  'AU Australia Australian Sydney Melbourne',
  'VN Vietnam Vietnamese Hanoi Da_Nang',
  'TH Thailand Thai Bangkok Chiang_Mai',
  'ID Indonesia Indonesian Jakarta Surabaya',
  'MY Malaysia Malaysian Kuala_Lumpur Penang',
  'CH Switzerland Swiss Zürich Geneva',
  'PT Portugal Portuguese Lisbon Porto',
  'IE Ireland Irish Dublin Cork',
  'ZA South_Africa South_African Johannesburg Cape_Town',
  'TR Turkey Turkish Istanbul Ankara',
  'PH Philippines Philippine Manila Cebu',
]

/** Every country of the world. Companies come from some of them, and expand into all. */
export const markets: readonly Market[] = rows.map((row) => {
  const [country = '', name = '', adjective = '', first = '', second = ''] = row
    .split(' ')
    .map((word) => word.replaceAll('_', ' '))
  return { country, name, adjective, cities: [first, second] }
})

const numbers = new Map(markets.map(({ country }, index) => [country, index]))

/** Returns the index of a country's market by its two letters. */
export function marketOf(country: string): number {
  return numbers.get(country)!
}

/**
 * Returns the countries that the values name, by two letters or name. Any other value names
 * none.
 */
export function countriesOf(values: readonly string[]): Set<string> {
  return new Set(
    values.flatMap((value) => {
      const asked = foldName(value)
      return markets
        .filter(({ country, name }) => country.toLowerCase() === asked || foldName(name) === asked)
        .map(({ country }) => country)
    }),
  )
}

/** Returns a test of places by country letters, country name or city. */
export function placeTest(values: readonly string[]): (country: string, city: string | null) => boolean {
  const countries = countriesOf(values)
  const folded = new Set(values.map(foldName))
  return (country, city) =>
    countries.has(country) ||
    (city !== null && (folded.has(foldName(city)) || folded.has(foldName(city.split(',')[0]!))))
}

/** Returns the id of a city, or of a whole country, in job search. */
export function locationId(country: string, city?: string): string {
  const name = city === undefined ? '' : `-${foldName(city).replaceAll(' ', '-')}`
  return `loc-${country.toLowerCase()}${name}`
}
