import { expect, it } from 'vitest'
import { newPlanId, newRunId } from './new-id.ts'

const context = {
  now: () => new Date(1_000_000_000_000),
  randomBytes: (size: number) => Buffer.alloc(size, 0xab),
}

it('makes ids of the given clock and randomness', () => {
  expect(newRunId(context)).toBe(`r${(1_000_000_000_000).toString(36)}ababab`)
  expect(newPlanId(context)).toBe(`p${(1_000_000_000_000).toString(36)}ababab`)
})
