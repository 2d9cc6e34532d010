import { describe, expect, test } from 'vitest'
import { mapOption, parseColumnMap } from './column-map.ts'
import type { ColumnOptions } from './column-names.ts'
import { recogniseColumns } from './columns.ts'

const where = 'leads.csv, line 1'
const person = (map: string): ColumnOptions => ({ object: 'person', map: parseColumnMap([map]) })
const messageOf = (work: () => unknown) => {
  try {
    work()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('it was accepted')
}

test.each([
  [['profile=LinkedIn URL,email=E-Mail'], { profileUrl: 'LinkedIn URL', email: 'E-Mail' }],
  [['profile=LinkedIn URL', 'email=E-Mail'], { profileUrl: 'LinkedIn URL', email: 'E-Mail' }],
  [['company=Name, legal, email = Mail '], { company: 'Name, legal', email: 'Mail' }],
  [['First Name=Vorname,last_name=Nachname'], { firstName: 'Vorname', lastName: 'Nachname' }],
  [['profile=a=b'], { profileUrl: 'a=b' }],
  [['email='], { email: '' }],
  [[], {}],
])('%j is read', (texts, map) => {
  expect(parseColumnMap(texts)).toEqual(map)
})

test.each([
  [['LinkedIn URL'], '"LinkedIn URL" has no "="'],
  [
    ['emial=E-Mail'],
    '"emial" is no field that a row is found by; is email meant? The fields are profile, domain',
  ],
  [['sector=Branche'], '"sector" is no field that a row is found by. The fields are profile'],
  [['email=a', 'email=b'], 'email is given twice'],
])('%j is refused: %s', (texts, message) => {
  expect(messageOf(() => parseColumnMap(texts))).toContain(`--map: ${message}`)
})

test.each([
  ["O'Neil's URL", `--map 'profile=O'\\''Neil'\\''s URL'`],
  ['LinkedIn URL', `--map 'profile=LinkedIn URL'`],
  ['Link', '--map profile=Link'],
])('the option for %j can be given to a shell as it is', (column, option) => {
  expect(mapOption('profileUrl', column)).toBe(option)
})

describe('a named column', () => {
  test('is found by its exact name, in another spelling, or by its place', () => {
    const columns = ['LinkedIn URL', 'E-Mail (privat)', '']
    expect(recogniseColumns(columns, person('profile=LinkedIn URL'), where).profileUrl).toBe(0)
    expect(recogniseColumns(columns, person('profile=linkedin-url'), where).profileUrl).toBe(0)
    expect(recogniseColumns(columns, person('profile=#3'), where).profileUrl).toBe(2)
  })

  test('comes before a known name, and is read as nothing else', () => {
    const columns = ['profile_url', 'Website', 'domain']
    const company = { object: 'company', map: parseColumnMap(['profile=Website']) } as const
    expect(recogniseColumns(columns, company, where)).toMatchObject({ profileUrl: 1, domain: 2 })
    const without = { object: 'company', map: parseColumnMap(['profile=']) } as const
    expect(recogniseColumns(columns, without, where)).toMatchObject({ profileUrl: undefined, domain: 2 })
  })

  test.each([
    [
      'profile=LinkdIn URL',
      'there is no column "LinkdIn URL" (--map profile). Found: "LinkedIn URL", "Mail". Is "LinkedIn URL" meant?',
    ],
    ['profile=#9', 'there is no column "#9" (--map profile)'],
    ['profile=Mail,email=mail', 'column "mail" is named for profile and for email'],
  ])('%j is refused with what there is', (map, message) => {
    expect(messageOf(() => recogniseColumns(['LinkedIn URL', 'Mail'], person(map), where))).toContain(message)
  })
})
