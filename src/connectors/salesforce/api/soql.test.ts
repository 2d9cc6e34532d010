import { expect, test } from 'vitest'
import { select, soqlName, soqlText, soqlTime } from './soql.ts'

test.each([
  ['plain', "'plain'"],
  ["O'Hara", String.raw`'O\'Hara'`],
  [String.raw`\' OR Id != '`, String.raw`'\\\' OR Id != \''`],
  ['line\nend\r\t\b\f', String.raw`'line\nend\r\t\b\f'`],
  ['"quoted"', String.raw`'\"quoted\"'`],
  ['', "''"],
])('the text %j is %s', (text, literal) => {
  expect(soqlText(text)).toBe(literal)
})

test('a time has milliseconds and no quotes', () => {
  expect(soqlTime(Date.UTC(2026, 10, 20, 12, 0, 1))).toBe('2026-11-20T12:00:01.000Z')
})

test.each(['Name', 'Profnet_URL__c', 'Account.Name'])('%s is a name', (name) => {
  expect(soqlName(name)).toBe(name)
})

test.each(['', '1st', 'Name FROM User', 'Name,Id', 'A.B.C', "x'", 'Nàme', 'Name\n'])(
  '%j is no name',
  (name) => {
    expect(() => soqlName(name)).toThrow('not the name')
  },
)

test('a statement is put together in the order that SOQL wants', () => {
  expect(
    select({
      fields: ['Id', 'Account.Name'],
      from: 'Contact',
      where: ['A = 1', '(B = 2 OR C = 3)'],
      orderBy: ['SystemModstamp', 'Id'],
      limit: 7,
    }),
  ).toBe(
    'SELECT Id, Account.Name FROM Contact WHERE A = 1 AND (B = 2 OR C = 3) ORDER BY SystemModstamp, Id LIMIT 7',
  )
  expect(select({ fields: ['Id'], from: 'Lead', where: [] })).toBe('SELECT Id FROM Lead')
})
