import { expect, test } from 'vitest'
import { capFindings } from './cap-findings.ts'

const caps = (price: bigint, run: bigint, day: bigint) =>
  capFindings({
    policy: { maxPriceAtomic: price },
    caps: { runAtomic: run, dayAtomic: day },
  } as never)

test('a cap that a smaller one makes useless is named', () => {
  expect(caps(10_000n, 1_000_000n, 5_000_000n)).toEqual([])
  expect(caps(5_000_000n, 1_000_000n, 500_000n).map(({ status, message }) => [status, message])).toEqual([
    ['warning', 'one lookup may cost 5.000000 USD, which is more than a run may spend: 1.000000'],
    ['warning', 'one lookup may cost 5.000000 USD, which is more than a day may cost: 0.500000'],
    ['warning', 'a run may spend 1.000000 USD, which is more than a day may cost: 0.500000'],
  ])
})
