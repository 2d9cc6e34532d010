import { expect, test } from 'vitest'
import { blockSize, largestBlock } from './block-size.ts'

test.each([
  [0, 1],
  [5, 1],
  [31, 1],
  [32, 2],
  [128, 8],
  [256, 16],
  [1_000, 16],
])('of %i waiting lookups %i are put together', (waiting, size) => {
  expect(blockSize(waiting, 16)).toBe(size)
})

test('a process with few slots is given small blocks', () => {
  expect([1, 4, 8, 64, 500].map(largestBlock)).toEqual([1, 1, 2, 16, 16])
  expect(blockSize(1_000, largestBlock(8))).toBe(2)
})
