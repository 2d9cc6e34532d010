import { describe, expect, test } from 'vitest'
import { RetriableError } from '../domain/errors.ts'
import type { OpenCharge } from '../domain/ports/charge-journal.ts'
import { createResolver } from './resolver.ts'

const nowMs = Date.UTC(2026, 4, 1)

function open(pages: number[], outcome: (id: string) => boolean | Error = () => true) {
  const asked: { before: Date; limit: number }[] = []
  const touched: string[] = []
  const recovered: unknown[] = []
  const errors: unknown[] = []
  const resolve = createResolver({
    async openCharges(before, limit) {
      asked.push({ before, limit })
      const page = asked.length
      return Array.from({ length: pages.shift() ?? 0 }, (_, at) => {
        return { id: `${page}.${at}`, isAnswered: at === 1 } as OpenCharge
      })
    },
    touch: async (id) => void touched.push(id),
    payer: {
      async recover(charge, purchase, isAnswered) {
        recovered.push([charge.id, purchase, isAnswered])
        const said = outcome(charge.id)
        if (said instanceof Error) throw said
        return said
      },
    },
    purchaseOf: ({ id }) => `purchase of ${id}` as never,
    now: () => new Date(nowMs),
    onError: (error) => void errors.push(error),
  })
  return { resolve, asked, touched, recovered, errors }
}

describe('the resolver', () => {
  test('recovers each charge that has rested for a minute, and touches those that stay open', async () => {
    const { resolve, asked, touched, recovered } = open([3], (id) => id !== '1.1')
    expect(await resolve()).toEqual({ closed: 2, open: 1 })
    expect(asked).toEqual([{ before: new Date(nowMs - 60_000), limit: 100 }])
    expect(recovered).toEqual([
      ['1.0', 'purchase of 1.0', false],
      ['1.1', 'purchase of 1.1', true],
      ['1.2', 'purchase of 1.2', false],
    ])
    expect(touched).toEqual(['1.1'])
  })

  test('takes the rest that it is given', async () => {
    const { resolve, asked } = open([])
    expect(await resolve(5)).toEqual({ closed: 0, open: 0 })
    expect(asked[0]?.before).toEqual(new Date(nowMs - 5))
  })

  test('goes on page by page until one is not full', async () => {
    const { resolve, asked } = open([100, 100, 99, 7])
    expect(await resolve()).toEqual({ closed: 299, open: 0 })
    expect(asked).toHaveLength(3)
  })

  test('counts one that throws as open, says so, and recovers the others', async () => {
    const failures = [new RetriableError('chain_unreachable', 'no answer'), new TypeError('broken')]
    const { resolve, touched, errors } = open([3], (id) => failures[Number(id.at(-1))] ?? true)
    expect(await resolve()).toEqual({ closed: 1, open: 2 })
    expect(touched).toEqual(['1.0', '1.1'])
    expect(errors).toEqual(['chain_unreachable: no answer', failures[1]])
  })
})
