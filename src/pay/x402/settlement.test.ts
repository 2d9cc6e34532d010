import { decodePaymentResponseHeader, encodePaymentResponseHeader } from '@x402/core/http'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sized } from '../../../test/support/full-size.ts'
import { testSeed } from '../../../test/support/seed.ts'
import { settlementOf } from './settlement.ts'

const seed = testSeed()
const runs = sized(20_000, 2_000)

const value = fc.oneof(
  fc.record(
    {
      success: fc.oneof(fc.boolean(), fc.jsonValue()),
      transaction: fc.oneof(fc.constant(`0x${'a1'.repeat(32)}`), fc.string({ unit: 'binary' })),
      errorReason: fc.oneof(fc.constantFrom('expired', 'é', '\ud800', '💶'), fc.string({ unit: 'grapheme' })),
      network: fc.string(),
    },
    { requiredKeys: [] },
  ),
  fc.jsonValue(),
)
const json = value.map((each) => JSON.stringify(each))
const bytes = fc.oneof(
  { weight: 3, arbitrary: json.map((each) => Buffer.from(each)) },
  json.map((each) => Buffer.from(`\ufeff${each}`)),
  json.map((each) => Buffer.from(` ${each}\n`)),
  json.map((each) => Buffer.from(each, 'latin1')),
  json.map((each) => Buffer.from(each.slice(0, -1))),
  fc.uint8Array().map((each) => Buffer.from(each)),
)
const headers = fc.oneof(
  { weight: 4, arbitrary: bytes.map((each) => each.toString('base64')) },
  bytes.map((each) => each.toString('base64url')),
  bytes.map((each) => `${each.toString('base64')}=`),
  bytes.map((each) => each.toString('base64').replace(/=+$/, '')),
  fc
    .tuple(bytes, fc.nat(), fc.constantFrom(' ', '\n', '=', '-', '_', 'A', 'é', '\0', '%3D'))
    .map(([each, place, sign]) => {
      const text = each.toString('base64')
      const at = place % (text.length + 1)
      return text.slice(0, at) + sign + text.slice(at)
    }),
  fc.string({ unit: 'binary' }),
)

test(`${runs} headers are read as by the official client, or refused as by it (seed ${seed})`, () => {
  const seen = { read: 0, refused: 0 }
  fc.assert(
    fc.property(headers, (header) => {
      const official = outcomeOf(() => decodePaymentResponseHeader(header))
      expect(outcomeOf(() => settlementOf(header))).toEqual(official)
      seen[official === 'refused' ? 'refused' : 'read'] += 1
    }),
    { numRuns: runs, seed },
  )
  expect(Math.min(seen.read, seen.refused)).toBeGreaterThan(runs / 10)
})

test('the header of the official server is read', () => {
  const settled = { success: true, transaction: '0x1', network: 'eip155:8453' } as const
  expect(settlementOf(encodePaymentResponseHeader(settled))).toEqual(settled)
})

function outcomeOf(read: () => unknown): unknown {
  try {
    return { read: read() }
  } catch {
    return 'refused'
  }
}
