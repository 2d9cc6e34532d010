import { describe, expect, test } from 'vitest'
import { sized } from '../../../test/support/full-size.ts'
import { normalisers, slowTexts } from './hostile-texts.fixture.ts'

// test/long runs the same on texts of a million characters.
describe.each(Object.entries(normalisers))('%s', (_, work) => {
  test('takes a time that grows with the length of its text', () => {
    expect(slowTexts(work, sized(48_000, 24_000))).toEqual([])
  })
})

test('what takes the square of the length is found', () => {
  const quadratic = (text: string) => /\?.*$/.exec(text)
  expect(slowTexts(quadratic, 24_000)).toEqual([expect.stringMatching(/^question marks/)])
})
