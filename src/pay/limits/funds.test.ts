import { beforeEach, describe, expect, test } from 'vitest'
import { createFunds } from './funds.ts'

const address = '0x00000000000000000000000000000000000000AA'
let balance: bigint | Error
let reads: number
let clockMs: number

beforeEach(() => {
  balance = 25_000n
  reads = 0
  clockMs = 1_000_000
})

const open = () =>
  createFunds({
    address,
    async balanceOf(owner) {
      expect(owner).toBe(address)
      reads += 1
      if (balance instanceof Error) throw balance
      return balance
    },
    now: () => new Date(clockMs),
  })

const isEmpty = { name: 'BudgetExhaustedError', code: 'wallet_empty' }

describe('a wallet', () => {
  test('covers as many payments as it holds, and what was promised counts as gone', async () => {
    const funds = open()
    await funds.assertCover(10_000n)
    await funds.assertCover(10_000n)
    await expect(funds.assertCover(10_000n)).rejects.toMatchObject({
      ...isEmpty,
      message: expect.stringContaining(`the wallet ${address} holds 0.005000 USDC`),
      resumesAt: new Date(clockMs + 60_000),
    })
    await funds.assertCover(5_000n)
    expect(reads).toBe(1)
  })

  test('is read once for all who ask at the same time', async () => {
    const funds = open()
    const asked = await Promise.allSettled(Array.from({ length: 5 }, () => funds.assertCover(10_000n)))
    expect(asked.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
      'rejected',
    ])
    expect(reads).toBe(1)
  })

  test('that was filled is seen soon after it was found short, and anyhow from time to time', async () => {
    const funds = open()
    await expect(funds.assertCover(30_000n)).rejects.toMatchObject(isEmpty)
    balance = 100_000n
    await expect(funds.assertCover(30_000n)).rejects.toMatchObject(isEmpty)
    clockMs += 2_001
    await funds.assertCover(30_000n)
    expect(reads).toBe(2)
    clockMs += 15_001
    balance = 1n
    await expect(funds.assertCover(30_000n)).rejects.toMatchObject(isEmpty)
  })

  test('that the server found empty signs nothing until it was looked at again', async () => {
    const funds = open()
    await funds.assertCover(10_000n)
    expect(funds.foundEmpty()).toMatchObject({
      ...isEmpty,
      message: expect.stringContaining('0.000000 USDC'),
    })
    await expect(funds.assertCover(10_000n)).rejects.toMatchObject(isEmpty)
    expect(reads).toBe(1)
    clockMs += 2_001
    await funds.assertCover(10_000n)
  })

  test("that the chain does not tell of is left to the server's word", async () => {
    balance = new Error('no answer')
    await expect(open().assertCover(10n ** 12n)).resolves.toBeUndefined()
  })
})
