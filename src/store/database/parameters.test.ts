import { createRequire } from 'node:module'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { testSeed } from '../../../test/support/seed.ts'
import { readJson } from '../packed/packed-json.ts'
import { asArrayText, storable, storableJson } from './parameters.ts'

/** The driver's own, which has no declarations. */
const { prepareValue } = createRequire(import.meta.url)('pg/lib/utils.js') as {
  prepareValue: (value: unknown) => unknown
}

test('removes only the characters that no jsonb column accepts, in values and keys', () => {
  const value = {
    title: 'CEO \0at \ud83d',
    'ke\0y': ['\udc00', { deep: 'fine 🙂', number: 1.5, nothing: null }],
    written: 'a \\u0000 that is text',
  }
  expect(JSON.parse(storableJson(value))).toEqual({
    title: 'CEO at \ufffd',
    key: ['\ufffd', { deep: 'fine 🙂', number: 1.5, nothing: null }],
    written: 'a \\u0000 that is text',
  })
})

test('no name becomes that of a packed value, neither as it is nor by what is removed', () => {
  for (const name of ['$z', '$z\0', '$\0z', '\0$z']) {
    const foreign = { [name]: 'a-text', company_name: 'Acme' }
    for (const stored of [storableJson(foreign), JSON.stringify(storable(foreign))])
      expect(readJson(stored)).toEqual({ $z_: 'a-text', company_name: 'Acme' })
  }
})

test('is ordinary JSON when there is nothing to remove', () => {
  const value = { at: new Date('2026-05-05T05:05:05.005Z'), text: 'Zürich 株式会社 🙂', list: [1, null] }
  expect(storableJson(value)).toBe(JSON.stringify(value))
})

test('a list of texts is written as the driver writes it', () => {
  const texts = fc.array(
    fc.string({ unit: fc.oneof(fc.constantFrom('"', '\\', ',', '{', '}', 'NULL', ' '), fc.string()) }),
  )
  fc.assert(
    fc.property(texts, (list) => {
      expect(asArrayText(list)).toBe(prepareValue(list))
    }),
    { seed: testSeed(), numRuns: 500 },
  )
  expect(asArrayText([])).toBe('{}')
})

test('any other parameter is left to the driver', () => {
  for (const value of [null, undefined, 'text', 1, 2n, new Date(0), [1, 2], ['text', null], [['text']]])
    expect(asArrayText(value)).toBe(value)
})
