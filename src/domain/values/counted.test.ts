import { expect, test } from 'vitest'
import { counted } from './counted.ts'

test.each([
  [counted(0, 'record'), '0 records'],
  [counted(1, 'record'), '1 record'],
  [counted(2, 'record'), '2 records'],
  [counted(2, 'company'), '2 companies'],
  [counted(2, 'new entry'), '2 new entries'],
  [counted(2, 'key'), '2 keys'],
  [counted(2, 'person', 'people'), '2 people'],
])('%s', (text, expected) => {
  expect(text).toBe(expected)
})
