import { expect, test, vi } from 'vitest'
import { coalesceByKey } from './gather.ts'

test('what is asked for within a moment is done at once, each key once', async () => {
  const work = vi.fn<(keys: string[]) => Promise<void>>(async () => {})
  const ask = coalesceByKey(work, 5)
  await Promise.all([ask(['a']), ask(['b', 'a']), ask([])])
  expect(work.mock.calls).toEqual([[['a', 'b']]])
  await ask(['a'])
  expect(work).toHaveBeenCalledTimes(2)
})

test('nobody is done before the work is, and an error is told to all of its batch and to no other', async () => {
  let fail: (error: Error) => void = () => {}
  const work = vi.fn<() => Promise<void>>(() => new Promise((_, reject) => (fail = reject)))
  const ask = coalesceByKey(work, 1)
  const both = [ask(['a']), ask(['b'])]
  const settled = Promise.allSettled(both)
  await vi.waitFor(() => expect(work).toHaveBeenCalledTimes(1))
  const later = ask(['c'])
  later.catch(() => {})
  fail(new Error('gone'))
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await vi.waitFor(() => expect(work).toHaveBeenCalledTimes(2))
  fail(new Error('again'))
  await expect(later).rejects.toThrow('again')
})
