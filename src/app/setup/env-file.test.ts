import fc from 'fast-check'
import { expect, test } from 'vitest'
import { testSeed } from '../../../test/support/seed.ts'
import { envText, readEnvText } from './env-file.ts'

test('a value is read back as it was, whatever is in it', () => {
  const value = fc.string({ unit: fc.constantFrom(...`aZ0 #$\\'"=\`{}!%&;|<>~é\t`) })
  fc.assert(
    fc.property(value, value, (first, second) => {
      const lines = [
        { name: 'FIRST', value: first, means: 'the first' },
        { name: 'NONE', value: undefined, offered: first },
        { name: 'SECOND', value: second },
      ]
      let text: string
      try {
        text = envText(lines)
      } catch (error) {
        // A value that no quotes can hold is refused by its name, and not written otherwise.
        expect(String(error)).toMatch(/(FIRST|SECOND) has a value that a \.env file cannot hold/)
        return
      }
      expect(readEnvText(text)).toEqual({ FIRST: first, SECOND: second })
    }),
    { seed: testSeed(), numRuns: 500 },
  )
})

test.each(['pat-na1-1234', "it's", 'a b', '$HOME', 'x#y', 'postgres://u:p%40ss@db/x?a=b&c=d', ' lead'])(
  '%j is held',
  (value) => expect(readEnvText(envText([{ name: 'A', value }]))).toEqual({ A: value }),
)

test('a value of two lines is refused, without being told', () => {
  expect(() => envText([{ name: 'A', value: 'secret\nB=1' }])).not.toThrow(/secret/)
})
