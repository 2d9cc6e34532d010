import fc from 'fast-check'
import { keccak256 as viems } from 'viem'
import { describe, expect, test } from 'vitest'
import { sized } from '../../../test/support/full-size.ts'
import { testSeed } from '../../../test/support/seed.ts'
import { createKeccak, keccak, openKeccak } from './keccak.ts'

const seed = testSeed()
const runs = sized(10_000, 1_000)
const text = (hash: Uint8Array) => Buffer.from(hash).toString('hex')
/** A block of Keccak-256 has 136 bytes: lengths around it and its multiples are as likely as any other. */
const nearBlocks = fc
  .tuple(fc.nat(5), fc.integer({ min: -2, max: 2 }))
  .map(([blocks, more]) => Math.max(0, blocks * 136 + more))
  .chain((length) => fc.uint8Array({ minLength: length, maxLength: length }))
const bytes = fc.oneof(nearBlocks, fc.uint8Array({ maxLength: 1_000 }))

describe('the hash in WebAssembly', async () => {
  const hash = await openKeccak()

  test(`is viem's for ${runs} texts of all lengths (seed ${seed})`, () => {
    fc.assert(
      fc.property(bytes, (some) => {
        expect(text(hash(some))).toBe(viems(some).slice(2))
      }),
      { numRuns: runs, seed },
    )
  })

  test("is viem's for a part of a larger buffer, and for more than its memory holds at once", () => {
    const large = Buffer.alloc(100_000, 'paydirt')
    for (const part of [large.subarray(7, 300), large.subarray(99_999), large])
      expect(text(hash(part))).toBe(viems(part).slice(2))
  })

  test('stays as it is when the next one is made', () => {
    const first = hash(Buffer.from('a'))
    hash(Buffer.from('b'))
    expect(text(first)).toBe(viems(Buffer.from('a')).slice(2))
  })
})

describe('the hash', () => {
  const some = Buffer.from('some')
  const viemsOfSome = viems(some).slice(2)

  test("is viem's from the first call on", () => {
    expect(text(keccak(some))).toBe(viemsOfSome)
  })

  test('is that of the faster library as soon as it is open, which the first call asks for, once', async () => {
    const opening = Promise.withResolvers<(of: Uint8Array) => Uint8Array>()
    let asked = 0
    const hash = createKeccak(() => {
      asked += 1
      return opening.promise
    })
    expect(asked).toBe(0)
    expect([text(hash(some)), text(hash(some)), asked]).toEqual([viemsOfSome, viemsOfSome, 1])
    opening.resolve(() => Buffer.from('opened'))
    await opening.promise
    expect(Buffer.from(hash(some)).toString()).toBe('opened')
    expect(asked).toBe(1)
  })

  test("stays viem's where the faster library cannot be opened", async () => {
    const hash = createKeccak(() => Promise.reject(new Error('no such package')))
    hash(some)
    await new Promise(setImmediate)
    expect(text(hash(some))).toBe(viemsOfSome)
  })
})
