import { expect, test } from 'vitest'
import { createSlots } from './slots.ts'

test('who waits for a slot has it before who tries', async () => {
  const slots = createSlots(2)
  expect([slots.tryTake(), slots.tryTake(), slots.tryTake()]).toEqual([true, true, false])
  const order: string[] = []
  const first = slots.take().then((isTaken) => order.push(`first ${isTaken}`))
  const second = slots.take().then((isTaken) => order.push(`second ${isTaken}`))
  slots.release()
  expect(slots.tryTake()).toBe(false)
  await first
  slots.release()
  await second
  expect(order).toEqual(['first true', 'second true'])
  expect(slots.free()).toBe(0)
})

test('a slot that nobody waits for is told', () => {
  const slots = createSlots(1)
  let told = 0
  slots.onFree(() => (told += 1))
  expect(slots.tryTake()).toBe(true)
  slots.release()
  expect([told, slots.free()]).toEqual([1, 1])
})

test('closed, it gives none and sends away who waits', async () => {
  const slots = createSlots(1)
  expect(slots.tryTake()).toBe(true)
  const waiting = slots.take()
  slots.close()
  expect(await waiting).toBe(false)
  expect(await slots.take()).toBe(false)
  slots.release()
  expect([slots.tryTake(), slots.free()]).toEqual([false, 0])
})
