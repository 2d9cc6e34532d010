import { expect, test } from 'vitest'
import { refusalWords } from './refusal-words.ts'

test('a value without an option has one name, whoever refused it', () => {
  for (const code of ['NO_SUCH_OPTION', 'INVALID_OPTION', 'INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST'])
    expect(refusalWords(code)).toBe('no such option')
  expect(refusalWords('TOO_LONG')).toBe('too long')
  expect(refusalWords('constructor')).toBe('constructor')
})
