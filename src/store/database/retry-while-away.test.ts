import { describe, expect, test } from 'vitest'
import { retryWhileAway } from './retry-while-away.ts'

function failing(times: number, error: Error) {
  let calls = 0
  return {
    calls: () => calls,
    async write() {
      calls += 1
      if (calls <= times) throw error
      return 'written'
    },
  }
}
const shutDown = Object.assign(new Error('terminating connection'), { code: '57P01' })

describe('a write while the database is away', () => {
  test.each([
    shutDown,
    Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
    new Error('Connection terminated unexpectedly'),
    new Error('Query read timeout'),
    Object.assign(new Error('cannot execute INSERT in a read-only transaction'), { code: '25006' }),
    Object.assign(new Error('server conn crashed?'), { code: '08P01' }),
  ])('is repeated until it is back: %s', async (error) => {
    const table = failing(3, error)
    expect(await retryWhileAway(table.write, { everyMs: 1 })).toBe('written')
    expect(table.calls()).toBe(4)
  })

  test('fails when the time is up', async () => {
    const table = failing(1_000_000, shutDown)
    await expect(retryWhileAway(table.write, { forMs: 20, everyMs: 5 })).rejects.toThrow(shutDown)
  })

  test('is not repeated after any other error', async () => {
    const broken = Object.assign(new Error('duplicate key'), { code: '23505' })
    const table = failing(1, broken)
    await expect(retryWhileAway(table.write)).rejects.toThrow(broken)
    expect(table.calls()).toBe(1)
  })
})
