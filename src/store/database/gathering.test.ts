import { expect, test } from 'vitest'
import { stepWaits } from './gathering.ts'
import { goFirst } from './go-first.ts'

test('a press waits for no group', async () => {
  expect(stepWaits.isUrgent()).toBe(false)
  expect(await goFirst(async () => stepWaits.isUrgent())).toBe(true)
})
