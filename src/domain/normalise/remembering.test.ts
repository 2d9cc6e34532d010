import { expect, test } from 'vitest'
import { remembering } from './remembering.ts'

test('a text is asked once, a long one each time, and nothing stays for good', () => {
  const asked: string[] = []
  const of = remembering((text) => {
    asked.push(text)
    return { text }
  })
  expect([of('a'), of('a'), of('b')]).toEqual([{ text: 'a' }, { text: 'a' }, { text: 'b' }])
  expect(of('a')).toBe(of('a'))
  expect(Object.isFrozen(of('a'))).toBe(true)
  expect(asked).toEqual(['a', 'b'])

  const long = 'x'.repeat(201)
  expect([of(long), of(long)]).toEqual([{ text: long }, { text: long }])
  expect(asked.splice(0)).toEqual(['a', 'b', long, long])

  for (let each = 0; each < 3_998; each++) of(String(each))
  of('one too many')
  asked.splice(0)
  of('a')
  expect(asked).toEqual(['a'])
})
