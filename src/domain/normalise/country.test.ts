import { describe, expect, test } from 'vitest'
import { countryCode, countryName } from './country.ts'

describe('the code of a country', () => {
  test.each([
    ['United States of America', 'US'],
    ['U.S.A.', 'US'],
    ['America', 'US'],
    ['Great Britain', 'GB'],
    ['England', 'GB'],
    ['Scotland', 'GB'],
    ['Wales', 'GB'],
    ['Northern Ireland', 'GB'],
    ['UK', 'GB'],
    ['Hong Kong', 'HK'],
    ['Macao', 'MO'],
    ['Macau', 'MO'],
    ['Myanmar', 'MM'],
    ['Burma', 'MM'],
    ['Turkey', 'TR'],
    ['Türkiye', 'TR'],
    ['Czech Republic', 'CZ'],
    ['Ivory Coast', 'CI'],
    ['Republic of Korea', 'KR'],
    ['Korea', 'KR'],
    ['Russian Federation', 'RU'],
    ['Viet Nam', 'VN'],
    ['Holland', 'NL'],
    ['The Netherlands', 'NL'],
    ['UAE', 'AE'],
    ['Palestine', 'PS'],
    ['Congo', 'CG'],
    ['Democratic Republic of the Congo', 'CD'],
    ['Swaziland', 'SZ'],
    ['Macedonia', 'MK'],
    ['Cape Verde', 'CV'],
    ['East Timor', 'TL'],
    ["People's Republic of China", 'CN'],
    ['Namibia', 'NA'],
    ['NA', 'NA'],
    ['de', 'DE'],
    ['Albania', 'AL'],
    ['Zimbabwe', 'ZW'],
  ])('of %s is %s', (text, code) => {
    expect(countryCode(text)).toBe(code)
  })

  test.each([
    'EU',
    'EZ',
    'UN',
    'QO',
    'XA',
    'XB',
    'ZZ',
    'European Union',
    'n/a',
    ' N. A. ',
    'N/A.',
    'Atlantis',
    '',
    'A1',
    'DEU',
  ])('is unknown of %j', (text) => {
    expect(countryCode(text)).toBeUndefined()
    expect(countryName(text)).toBeUndefined()
  })

  test('gives its name', () => {
    expect(countryName('holland')).toBe('Netherlands')
    expect(countryName('DE')).toBe('Germany')
  })
})
