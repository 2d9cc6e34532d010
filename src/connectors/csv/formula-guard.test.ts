import { expect, test } from 'vitest'
import { guardFormula } from './formula-guard.ts'

test.each([
  ['=HYPERLINK("http://x","y")', `'=HYPERLINK("http://x","y")`],
  ['+1+cmd|calc', `'+1+cmd|calc`],
  ['-1+1', `'-1+1`],
  ['@SUM(A1)', `'@SUM(A1)`],
  ['\t=1', `'\t=1`],
  ['＝1+1', `'＝1+1`],
  ['-', `'-`],
  ['+491701234567x', `'+491701234567x`],
  ['+491701234567 ext. 1+1', `'+491701234567 ext. 1+1`],
])('a value that a spreadsheet could run is quoted: %j', (value, guarded) => {
  expect(guardFormula(value)).toBe(guarded)
})

test.each([
  '+491701234567',
  '+4930901820 ext. 12',
  '-12',
  '-12.5',
  '+1,234.50',
  'Acme = best',
  '2-3',
  '',
  "'=1",
])('a harmless value stays as it is: %j', (value) => {
  expect(guardFormula(value)).toBe(value)
})
