import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { fromPrintable, toPrintable } from './printable.ts'

it('gives back any bytes of any length', () => {
  for (let length = 0; length < 600; length += 1) {
    for (const bytes of [randomBytes(length), Buffer.alloc(length), Buffer.alloc(length, 0xff)]) {
      expect(Buffer.from(fromPrintable(toPrintable(bytes))).equals(bytes)).toBe(true)
    }
  }
})

it('writes nothing that JSON escapes, in less than base64', () => {
  const bytes = randomBytes(50_000)
  const text = toPrintable(bytes)
  expect(JSON.stringify(text)).toBe(`"${text}"`)
  expect(text).not.toMatch(/[^!-~]|'/)
  expect(text.length / bytes.length).toBeLessThan(1.232)
})
