import { setImmediate } from 'node:timers/promises'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { collectGarbage } from './collect-garbage.ts'

test('what nobody refers to is freed at once', async () => {
  const left = new WeakRef({ memory: new ArrayBuffer(1_000) })
  // A reference that was just made is kept until its turn ends.
  await setImmediate()
  expect(left.deref()).toBeDefined()
  await setImmediate()
  collectGarbage()
  expect(left.deref()).toBeUndefined()
})

test('programs are given no function that collects garbage', () => {
  collectGarbage()
  expect(runInNewContext('typeof gc')).toBe('undefined')
})
