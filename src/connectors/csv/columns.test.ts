import { describe, expect, test } from 'vitest'
import { ConfigError, InputError } from '../../domain/errors.ts'
import { namesOf, type ColumnOptions } from './column-names.ts'
import { columnWarnings, identityOf, recogniseColumns, wrongObjectHint } from './columns.ts'

const company: ColumnOptions = { object: 'company' }
const person: ColumnOptions = { object: 'person' }
const where = 'leads.csv, line 1'

describe('column names', () => {
  test.each([
    ['profnet_url', company, 'profileUrl'],
    ['Profnet URL', company, 'profileUrl'],
    ['PROFNET-url', person, 'profileUrl'],
    ['Profile URL', company, 'profileUrl'],
    ['Company Profile', company, 'profileUrl'],
    ['Person profile (URL)', person, 'profileUrl'],
    ['Worknet Company Page', { object: 'company', networkName: 'worknet' }, 'profileUrl'],
    ['worknet.url', { object: 'person', networkName: 'Worknet' }, 'profileUrl'],
    ['Konto-Link', { object: 'company', synonyms: { profileUrl: ['konto_link'] } }, 'profileUrl'],
    ['Website', company, 'domain'],
    ['Company Domain Name', company, 'domain'],
    ['E-Mail', person, 'email'],
    ['Phone Number', person, 'phone'],
    ['First name', person, 'firstName'],
    ['Last  Name', person, 'lastName'],
    ['Account Name', company, 'company'],
    ['Name', company, 'company'],
    ['TikTok URL', company, 'tiktokUrl'],
    ['tw104_url', company, 'tw104Url'],
    ['domain_search_id', company, 'companyId'],
  ] as const)('%j is found', (name, options, field) => {
    expect(recogniseColumns(['Rating', name], { ...options }, where)[field]).toBe(1)
  })

  test('the profile of the other object is not taken for the record’s own', () => {
    const found = recogniseColumns(['company_profnet_url', 'company_profile', 'email'], person, where)
    expect(found.profileUrl).toBeUndefined()
    expect(recogniseColumns(['name', 'email'], person, where).company).toBeUndefined()
    expect(recogniseColumns(['tiktok_url', 'email'], person, where).tiktokUrl).toBeUndefined()
  })

  test('the stronger name wins, and the user’s own before all', () => {
    expect(recogniseColumns(['website', 'domain'], company, where).domain).toBe(1)
    const own = { ...company, synonyms: { domain: ['Website'] } }
    expect(recogniseColumns(['website', 'domain'], own, where).domain).toBe(0)
  })

  test('no name belongs to two fields', () => {
    for (const object of ['company', 'person'] as const) {
      const fields = ['profileUrl', 'domain', 'email', 'phone', 'firstName', 'lastName', 'company'] as const
      const names = fields.flatMap((field) => [...new Set(namesOf(field, { object }))])
      expect(names.length).toBe(new Set(names).size)
    }
  })
})

describe('headers that are refused', () => {
  const refusal = (columns: string[], options = company) => {
    try {
      recogniseColumns(columns, options, where)
    } catch (error) {
      return error as Error
    }
    throw new Error('it was accepted')
  }

  test.each([
    [['Domain', 'x', 'domain'], 'columns 1 ("Domain") and 3 ("domain")', "--map 'domain=#1'"],
    [
      ['Website', 'Website', 'Website'],
      '1 ("Website"), 2 ("Website") and 3 ("Website")',
      "--map 'domain=#1'",
    ],
    [['profnet_url', 'Profnet URL'], 'columns 1 ("profnet_url") and 2 ("Profnet URL")', "--map 'profile=#1'"],
    [['domain', 'paydirt_city', 'Paydirt_City'], 'columns 2 ("paydirt_city") and 3', 'rename or remove'],
  ])('a duplicate name of a column that is read: %j', (columns, message, remedy) => {
    const error = refusal(columns)
    expect(error).toBeInstanceOf(InputError)
    expect(error.message).toContain(message)
    expect(error.message).toContain(remedy)
  })

  test('every duplicate that matters is named at once, and a place chooses between them', () => {
    const columns = ['Notes', 'Website', 'Company', 'Notes', 'Website', 'company']
    expect(refusal(columns).message).toBe(
      `${where}: columns 2 ("Website") and 5 ("Website") have the same name: choose one by its place, such as --map 'domain=#2', or rename the others; ` +
        `columns 3 ("Company") and 6 ("company") have the same name: choose one by its place, such as --map 'company=#3', or rename the others`,
    )
    const map = { domain: '#5', company: '#3' }
    expect(recogniseColumns(columns, { ...company, map }, where)).toMatchObject({ domain: 4, company: 2 })
  })

  test('a duplicate that the user names is asked about by its place', () => {
    const options = { ...company, map: { profileUrl: 'Notes' } }
    expect(refusal(['domain', 'Notes', 'Notes'], options).message).toContain("--map 'profile=#2'")
  })

  test('columns without a name, and those of one name that are not read, are allowed', () => {
    expect(recogniseColumns(['domain', '', 'Notes', 'notes', 'notes', ''], company, where).domain).toBe(0)
  })

  test('nothing recognised: names what was found, what would be, and the nearest', () => {
    const error = refusal(['Rating', 'profnet_ulr'])
    expect(error).toBeInstanceOf(ConfigError)
    expect(error.message).toContain('Found: "Rating", "profnet_ulr"')
    expect(error.message).toContain('profnet_url or profile_url')
    expect(error.message).toContain('Is "profnet_ulr" meant to be profnet_url?')
  })

  test('a first line of values is recognised, and its values are not shown', () => {
    const error = refusal(['Jane', 'jane@acme.test'])
    expect(error.message).toContain('column 2 holds a value')
    expect(error.message).not.toContain('jane@')
  })

  test('control characters of a name do not reach the terminal', () => {
    expect(refusal(['\u001b[2Jx']).message).not.toContain('\u001b')
  })
})

test('a file without profile URLs is warned about, with the misspelt column', () => {
  const columns = ['company', 'profnet_ulr']
  const found = recogniseColumns(columns, company, where)
  const [warning] = columnWarnings(columns, found, [], company)
  expect(warning).toContain('"profnet_ulr" meant to be profnet_url')
  const complete = recogniseColumns(['profnet_url'], company, where)
  expect(columnWarnings(['profnet_url'], complete, [], company)).toEqual([])
})

test.each([
  ['people only', ['https://profnet.com/in/a', 'profnet.com/in/b'], 'company', '--object person'],
  ['companies only', ['https://profnet.com/company/a', 'broken', ''], 'person', '--object company'],
  ['both', ['https://profnet.com/in/a', 'https://profnet.com/company/b'], 'company', undefined],
  ['broken ones only', ['x', 'y'], 'company', undefined],
  ['none', ['', ' '], 'person', undefined],
] as const)('a wrong object is recognised by URLs: %s', (_, urls, object, hint) => {
  const found = recogniseColumns(['profnet_url'], { object }, where)
  const told = wrongObjectHint(
    urls.map((url) => [url]),
    found,
    object,
  )
  if (hint === undefined) expect(told).toBeUndefined()
  else expect(told).toContain(hint)
})

test('identifying values are trimmed, and blank ones left out', () => {
  const found = recogniseColumns(['profnet_url', 'email', 'phone', 'last_name'], person, where)
  expect(identityOf([' https://profnet.com/in/a ', '  ', '', 'Ünal'], found)).toEqual({
    profileUrl: 'https://profnet.com/in/a',
    lastName: 'Ünal',
  })
})
