import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { openSealed, sealText } from './seal.ts'

test('a sealed text is opened by the same desk alone', () => {
  const [key, other] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')]
  const text = 'Ann \u202e 山田 ' + 'x'.repeat(400)
  const sealed = sealText(key, text)
  expect(sealed).toMatch(/^[\w-]+$/)
  expect(sealText(key, text)).not.toBe(sealed)
  expect(openSealed(key, sealed)).toBe(text)
  expect(openSealed(other, sealed)).toBeUndefined()
  expect(openSealed(key, `${sealed.slice(0, -2)}AA`)).toBeUndefined()
  for (const wrong of ['', 'x', 'A'.repeat(20), '../..']) expect(openSealed(key, wrong)).toBeUndefined()
})
