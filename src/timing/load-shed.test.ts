import { expect, test } from 'vitest'
import { createLoadShed, type ShedReason } from './load-shed.ts'

function house() {
  let now = 0
  const slow: Record<ShedReason, number> = { database: 0, redis: 0, presses: 0 }
  const changes: string[] = []
  let hangs: Promise<void> | undefined
  const shed = createLoadShed({
    bounds: { database: 100, redis: 100, presses: 1_000 },
    probes: {
      database: async () => {
        now += slow.database
        await hangs
        return undefined
      },
      redis: async () => {
        now += slow.redis
        return undefined
      },
      presses: async () => slow.presses,
    },
    holdMs: 5_000,
    nowMs: () => now,
    onChange: ({ reason, isShedding }) => changes.push(`${reason} ${isShedding}`),
  })
  return {
    shed,
    slow,
    changes,
    hang: (until: Promise<void>) => (hangs = until),
    async seconds(count: number) {
      for (let index = 0; index < count; index++) {
        now += 1_000
        await shed.measure()
      }
    },
    pass: (ms: number) => (now += ms),
  }
}

test('one slow answer of a fast database sheds nothing, and a slow database does', async () => {
  const { shed, slow, seconds } = house()
  await seconds(3)
  slow.database = 200
  await seconds(1)
  expect(shed.reason()).toBeUndefined()
  await seconds(3)
  expect(shed.reason()).toBe('database')
})

test('it ends after the hold below half of the bound, and does not flap about the bound', async () => {
  const { shed, slow, changes, seconds } = house()
  slow.presses = 1_001
  await seconds(1)
  for (const ms of [900, 1_001, 900, 600, 1_001, 600]) {
    slow.presses = ms
    await seconds(2)
    expect(shed.reason()).toBe('presses')
  }
  slow.presses = 0
  await seconds(3)
  expect(shed.reason()).toBe('presses')
  await seconds(3)
  expect(shed.reason()).toBeUndefined()
  expect(changes).toEqual(['presses true', 'presses false'])
})

test('a database that hangs is seen before it answers', async () => {
  const { shed, hang, pass } = house()
  let end: () => void = () => {}
  hang(new Promise<void>((resolve) => (end = resolve)))
  const measuring = shed.measure()
  expect(shed.reason()).toBeUndefined()
  pass(101)
  expect(shed.reason()).toBe('database')
  end()
  await measuring
})
