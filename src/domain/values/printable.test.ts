import { expect, test } from 'vitest'
import { printable } from './printable.ts'

test.each([
  ['Acme\n\tGmbH — 日本 🤖', 'Acme\n\tGmbH — 日本 🤖'],
  ['\u001b[2J\u001b]0;owned\u0007', '\\u001b[2J\\u001b]0;owned\\u0007'],
  ['100 USD\r0 USD', '100 USD\\u000d0 USD'],
  ['\u009b31m\u007f', '\\u009b31m\\u007f'],
  ['\u202egnp.exe\u2066\u200f', '\\u202egnp.exe\\u2066\\u200f'],
])('%j is printed as %j', (text, shown) => expect(printable(text)).toBe(shown))

test('a JSON document stays the same document', () => {
  const document = { name: '\u001b[31m\u202e\u009b\u007f\u2028"\n' }
  const shown = printable(JSON.stringify(document))
  expect(JSON.parse(shown)).toEqual(document)
  expect(shown).toMatch(/^[ -~]+$/)
})
