import { expect, test } from 'vitest'
import { httpsUrl } from './https-url.ts'

test.each([
  ['https://api.example/x', true],
  ['http://127.0.0.1:8080', true],
  ['http://localhost', true],
  ['http://[::1]:1', true],
  ['http://api.example', false],
  ['http://127.0.0.2', false],
  ['http://localhost.example', false],
  ['ftp://localhost', false],
  ['api.example', false],
  ['', false],
])('%j may be used: %s', (text, passes) => {
  expect(httpsUrl.safeParse(text).success).toBe(passes)
})
