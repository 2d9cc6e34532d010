import { expect, test } from 'vitest'
import { storableJson } from './parameters.ts'

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

test('is ordinary JSON when there is nothing to remove', () => {
  const value = { at: new Date('2026-05-05T05:05:05.005Z'), text: 'Zürich 株式会社 🙂', list: [1, null] }
  expect(storableJson(value)).toBe(JSON.stringify(value))
})
