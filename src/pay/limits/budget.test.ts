import { describe, expect, test } from 'vitest'
import { budgetLines } from './budget.ts'

const charge = (now: string) => ({
  runId: 'r',
  connector: 'csv',
  now: new Date(now),
  currency: 'USD' as const,
})
const none = 2n ** 63n - 1n

describe('the lines on which a charge counts', () => {
  test('are all of them, capped or not', () => {
    expect(budgetLines(charge('2026-05-05T12:00:00Z'), {})).toEqual([
      { scope: 'run:r', capAtomic: none },
      { scope: 'day:2026-05-05', capAtomic: none, resumesAt: new Date('2026-05-06T00:00:00Z') },
      { scope: 'month:2026-05', capAtomic: none, resumesAt: new Date('2026-06-01T00:00:00Z') },
      { scope: 'connector:csv:2026-05-05', capAtomic: none, resumesAt: new Date('2026-05-06T00:00:00Z') },
    ])
  })

  test('have the caps that are set, a connector its own', () => {
    const caps = {
      runAtomic: 1n,
      dayAtomic: 2n,
      monthAtomic: 3n,
      connectorDayAtomic: { csv: 4n, hubspot: 5n },
    }
    expect(budgetLines(charge('2026-05-05T12:00:00Z'), caps).map(({ capAtomic }) => capAtomic)).toEqual([
      1n,
      2n,
      3n,
      4n,
    ])
  })

  test.each([
    ['2026-12-31T23:59:59.999Z', '2027-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
    ['2028-02-28T00:00:00Z', '2028-02-29T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
    ['2026-01-31T12:00:00+14:00', '2026-01-31T00:00:00.000Z', '2026-02-01T00:00:00.000Z'],
  ])('turn at midnight of UTC: at %s the day at %s and the month at %s', (now, day, month) => {
    const lines = budgetLines(charge(now), {})
    expect(lines.map(({ resumesAt }) => resumesAt?.toISOString())).toEqual([undefined, day, month, day])
  })

  test('of credits are their own, so that they never count as money', () => {
    const scopes = budgetLines(
      { ...charge('2026-05-05T12:00:00Z'), currency: 'credit' },
      { dayAtomic: 1n },
    ).map(({ scope }) => scope)
    expect(scopes.every((scope) => scope.startsWith('credits:'))).toBe(true)
  })
})
