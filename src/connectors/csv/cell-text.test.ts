import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cellText } from './cell-text.ts'

test.each([
  'n/a',
  'N/A',
  ' n.a. ',
  '#N/A',
  '-',
  '--',
  '—',
  '–',
  'none',
  'None',
  '(none)',
  '?',
  '.',
  '\u00a0',
  '\u200b',
  '="-"',
])('%j has no value, in a name too', (cell) => {
  expect([cellText(cell, 'email'), cellText(cell, 'lastName'), cellText(cell)]).toEqual(['', '', ''])
})

test.each(['null', 'NA', 'nil', 'Unknown'])('%j has no value, except as a name', (cell) => {
  expect([cellText(cell, 'email'), cellText(cell, 'profileUrl')]).toEqual(['', ''])
  expect([cellText(cell, 'lastName'), cellText(cell, 'company')]).toEqual([cell, cell])
})

test.each([
  ['="https://profnet.com/in/a"', 'https://profnet.com/in/a'],
  ["'+49170123456", '+49170123456'],
  ["'t Hart", "'t Hart"],
  ['\ufeffada@acme.example\u200b', 'ada@acme.example'],
  ['\u00a0Ada ', 'Ada'],
  ['Nonesuch', 'Nonesuch'],
  ['-1', '-1'],
])('%j means %j', (cell, text) => {
  expect(cellText(cell, 'lastName')).toBe(text)
})

test('white space around a cell changes nothing, as with a cell that has nothing to be taken off', () => {
  const cell = fc.string({
    unit: fc.constantFrom(...`aZ09 /.-_'"=@\n\t\u00a0\u200bé`, 'null', 'n/a', 'na'),
    maxLength: 12,
  })
  const field = fc.constantFrom(undefined, 'email' as const, 'lastName' as const)
  fc.assert(
    fc.property(cell, field, (text, of) => {
      expect(cellText(text, of)).toBe(cellText(` ${text}\u200b`, of))
    }),
  )
})
