import { describe, expect, test } from 'vitest'
import { normalisers, slowTexts } from '../../src/domain/values/hostile-texts.fixture.ts'

describe.each(Object.entries(normalisers))('%s', (_, work) => {
  test('takes a time that grows with the length of a text of up to a million characters', () => {
    expect(slowTexts(work, 1_000_000)).toEqual([])
  }, 600_000)
})
