import { expect, test } from 'vitest'
import type { OwnCharge } from '../../service/own-charges.ts'
import { spentOf } from './run-list.ts'

const charge = (given: Partial<OwnCharge>) =>
  ({ state: 'settled', currency: 'USD', amountAtomic: 10_000n, ...given }) as OwnCharge

test('a budget counts what was paid and what may have been, and a credit as a cent', () => {
  expect(
    spentOf([
      charge({}),
      charge({ state: 'in_doubt', amountAtomic: 20_000n }),
      charge({ state: 'declined' }),
      charge({ currency: 'credit', amountAtomic: 3_000_000n }),
    ]),
  ).toBe(60_000n)
})
