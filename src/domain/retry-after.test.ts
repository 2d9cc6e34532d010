import { expect, test } from 'vitest'
import { rateLimitLeft, retryAfter } from './retry-after.ts'

const now = Date.parse('2026-01-01T00:00:00Z')

test.each<[header: string | undefined, ms: number | undefined]>([
  ['0', 0],
  ['3', 3000],
  ['120', 120_000],
  ['Thu, 01 Jan 2026 00:00:05 GMT', 5000],
  ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
  ['31536000', 86_400_000],
  ['9'.repeat(400), 86_400_000],
  ['Fri, 31 Dec 9999 23:59:59 GMT', 86_400_000],
  [' 5 ', 5000],
  ['-5', undefined],
  ['1.5', undefined],
  ['10, 20', undefined],
  ['soon', undefined],
  ['', undefined],
  [undefined, undefined],
])('Retry-After: %s is %s ms', (header, ms) => {
  expect(retryAfter(header === undefined ? {} : { 'retry-after': header }, now)).toBe(ms)
})

test.each<[headers: Record<string, string>, left: object | undefined]>([
  [
    { 'ratelimit-remaining': '5', 'ratelimit-reset': '2' },
    { remaining: 5, resetMs: 2000 },
  ],
  [
    { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' },
    { remaining: 0, resetMs: 1000 },
  ],
  [{ 'x-ratelimit-remaining': '5', 'x-ratelimit-reset': '1767225600' }, undefined],
  [{ 'ratelimit-remaining': '5' }, undefined],
  [{ 'ratelimit-remaining': '-1', 'ratelimit-reset': '1' }, undefined],
  [{ 'ratelimit-remaining': 'many', 'ratelimit-reset': '1' }, undefined],
  [{}, undefined],
])('%j leaves %j of the window', (headers, left) => {
  expect(rateLimitLeft(headers)).toEqual(left)
})
