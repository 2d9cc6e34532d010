import { expect, test } from 'vitest'
import { inTurns } from './in-turns.ts'

function workFor(ms: number): void {
  const endMs = performance.now() + ms
  while (performance.now() < endMs);
}

test('a long list is mapped in its order, and others have a turn between its items', async () => {
  const done: (number | string)[] = []
  setImmediate(() => done.push('other'))
  const results = await inTurns([1, 2, 3], (item) => {
    workFor(6)
    done.push(item)
    return item * 10
  })
  expect(results).toEqual([10, 20, 30])
  expect(done).toEqual([1, 'other', 2, 3])
})

test('an error ends it', async () => {
  const done: number[] = []
  const mapped = inTurns([1, 2, 3], (item) => {
    if (item === 2) throw new Error('the second')
    done.push(item)
  })
  await expect(mapped).rejects.toThrow('the second')
  expect(done).toEqual([1])
})
