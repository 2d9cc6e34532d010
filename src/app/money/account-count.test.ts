import { beforeEach, describe, expect, test } from 'vitest'
import { RetriableError } from '../../domain/errors.ts'
import type { CreditsBooked } from '../../store/ledger/paid-charges.ts'
import { accountCount } from './account-count.ts'

const stored = new Map<string, string>()
let at: Date
beforeEach(() => {
  stored.clear()
  at = new Date('2026-05-05T05:05:05Z')
})

const booked = (paid: number, change: Partial<CreditsBooked> = {}): CreditsBooked => ({
  paidAtomic: BigInt(paid * 1e6),
  inDoubt: 0,
  inDoubtAtomic: 0n,
  underWay: 0,
  ...change,
})

let monitors: Record<string, unknown>
beforeEach(() => void (monitors = {}))

function count(account: Record<string, unknown> | Error, ...reads: CreditsBooked[]) {
  return accountCount(
    { database: {}, config: { apiKey: { key: 'k', header: 'h' }, monitors }, now: () => at } as never,
    {
      askAccount: async () => {
        if (account instanceof Error) throw account
        return account
      },
    },
    {
      booked: async () => (reads.length > 1 ? reads.shift()! : reads[0]!),
      read: async (name) => stored.get(name),
      write: async (name, value) => void stored.set(name, value),
    },
  )
}

describe('the account’s count', () => {
  beforeEach(() => count({ total_credit_used: 100 }, booked(40)))

  test.each([
    ['nothing beyond the ledger', 110, 'agree', '0.000000'],
    ['a credit of a request in doubt', 111, 'unexplained', '1.000000'],
    ['a count that is late', 109, 'behind', '-1.000000'],
  ])('shows %s', async (_, used, verdict, unexplained) => {
    const doubt = { inDoubt: 2, inDoubtAtomic: 2_000_000n }
    expect(await count({ total_credit_used: used }, booked(50, doubt))).toMatchObject({
      verdict,
      unexplained,
      since: '2026-05-05T05:05:05.000Z',
      bookedSince: '10.000000',
      inDoubt: { charges: 2, credits: '2.000000' },
    })
  })

  test('names the monitors for which the service spends by itself beside what no charge explains', async () => {
    monitors = { dach: { automaticPersonEnrichment: {} }, france: {} }
    expect(await count({ total_credit_used: 125 }, booked(50))).toMatchObject({
      verdict: 'unexplained',
      unexplained: '15.000000',
      automaticMonitors: ['dach'],
    })
  })

  test('says nothing while requests are under way, or were settled meanwhile', async () => {
    expect(await count({ total_credit_used: 111 }, booked(50, { underWay: 1 }))).toMatchObject({
      verdict: 'under_way',
      unexplained: null,
    })
    expect(await count({ total_credit_used: 111 }, booked(50), booked(51))).toMatchObject({
      verdict: 'under_way',
    })
  })

  test('moves on only where both agree and nothing is in doubt', async () => {
    const since = async (used: number, read: CreditsBooked) => {
      at = new Date(at.getTime() + 3_600_000)
      await count({ total_credit_used: used }, read)
      return (await count({ total_credit_used: used }, read))?.since
    }
    const first = '2026-05-05T05:05:05.000Z'
    expect(await since(111, booked(50))).toBe(first)
    expect(await since(110, booked(50, { inDoubt: 1 }))).toBe(first)
    expect(await since(110, booked(50))).toBe(at.toISOString())
  })

  test('that cannot be read is a problem of its own', async () => {
    expect(await count(new RetriableError('timeout', 'no answer'), booked(50))).toMatchObject({
      verdict: 'unknown',
      problem: 'no answer',
    })
  })
})

test('credits that are left are compared where the service does not tell those used', async () => {
  await count({ credit: 500, topup_credit: 20 }, booked(0))
  expect(await count({ credit: 490, topup_credit: 20 }, booked(9))).toMatchObject({
    used: null,
    left: '510',
    verdict: 'unexplained',
    unexplained: '1.000000',
  })
})

test('a first count is not taken while something is in doubt', async () => {
  await count({ total_credit_used: 7 }, booked(1, { inDoubt: 1 }))
  expect(stored.size).toBe(0)
})
