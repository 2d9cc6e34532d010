import { expect, test } from 'vitest'
import { guardFormula } from './formula-guard.ts'

test.each([
  ['=HYPERLINK("http://x","y")', `'=HYPERLINK("http://x","y")`],
  ['+1+cmd|calc', `'+1+cmd|calc`],
  ['-1+1', `'-1+1`],
  ['@SUM(A1)', `'@SUM(A1)`],
  ['\t=1', `'\t'=1`],
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

test.each([
  ['Head of Sales;=HYPERLINK("http://x")', `Head of Sales;'=HYPERLINK("http://x")`],
  ['a,=1+1', `a,'=1+1`],
  ['a\t@SUM(A1)', `a\t'@SUM(A1)`],
  ['a;"=1+1"', `a;"'=1+1"`],
  ['a|＝1+1', `a|'＝1+1`],
  ['first line\n=1+1', `first line\n'=1+1`],
  ["a;-1+cmd|' /C calc'!A0", `a;'-1+cmd|' /C calc'!A0`],
  ['a;+SUM(1)', `a;'+SUM(1)`],
  ['=1;=2', `'=1;'=2`],
])('a part that another list separator makes a cell is quoted too: %j', (value, guarded) => {
  expect(guardFormula(value)).toBe(guarded)
})

test.each([
  'We sell:\n- pumps (large)\n- valves, -gaskets',
  'Phones:+491701234567;+4930901820 ext. 12',
  '1;-2,5',
  'C++, C; a = b',
  'mail@a.example;mail@b.example',
])('a list, numbers, phones and addresses stay as they are: %j', (value) => {
  expect(guardFormula(value)).toBe(value)
})

test('a hostile value takes no time', () => {
  const begun = performance.now()
  for (const value of [';"'.repeat(40_000), `;=${'a'.repeat(100_000)}`, ';-a'.repeat(40_000)])
    guardFormula(value)
  expect(performance.now() - begun).toBeLessThan(1_000)
})
