import { describe, expect, test } from 'vitest'
import { sized } from '../../../test/support/full-size.ts'
import { testSeed } from '../../../test/support/seed.ts'
import { carryOut, chance, emptyLedger, makeWorld, plan } from './worlds.fixture.ts'

const worlds = sized(1_000, 40)
const seenRecords = 500

describe('what a run costs, in random worlds', () => {
  const sums = { expected: 0, paid: 0, low: 0, high: 0 }
  const outside: string[] = []

  test(`lies within the bounds of its plan in each of ${worlds}`, () => {
    for (let number = 0; number < worlds; number++) {
      const seed = testSeed() * 7919 + number
      const world = makeWorld(seed)
      const roll = (name: string) => chance(seed, `case ${name}`)
      const ledger = emptyLedger()
      const isNew = number % 10 === 0
      if (!isNew)
        carryOut(
          world,
          Array.from({ length: seenRecords }, (_, at) => world.record(at)),
          ledger,
        )
      const count = 1 + Math.floor(roll('records') ** 2 * 60)
      const records = Array.from({ length: count }, (_, at) => world.record(10_000 + at))
      const left = roll('has a budget') < 0.3 ? BigInt(Math.floor(roll('budget') * 300)) * 10_000n : undefined
      const { lowAtomic, expectedAtomic, highAtomic } = plan(world, records, ledger, left)
      const paid = carryOut(world, records, ledger, left)
      if (paid < lowAtomic || paid > highAtomic)
        outside.push(`world ${seed} (${world.recipe.name}): ${lowAtomic} to ${highAtomic}, paid ${paid}`)
      expect(expectedAtomic >= lowAtomic && expectedAtomic <= highAtomic).toBe(true)
      if (isNew) continue
      sums.expected += Number(expectedAtomic)
      sums.paid += Number(paid)
      sums.low += Number(lowAtomic)
      sums.high += Number(highAtomic)
    }
    expect(outside).toEqual([])
  }, 900_000)

  test(`is what was expected, within a tenth over all of them, once ${seenRecords} records were seen`, () => {
    expect(Math.abs(sums.expected - sums.paid)).toBeLessThan(sums.paid / 10)
    // The bounds alone would not say it.
    expect(sums.high - sums.low).toBeGreaterThan(sums.paid / 4)
  })
})
