import fc from 'fast-check'
import { randomBytes } from 'node:crypto'
import { deflateRawSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { testSeed } from '../../../test/support/seed.ts'
import { dictionaries } from './dictionaries.ts'
import { createKeptZlib } from './kept-zlib.ts'

const seed = testSeed()
const dictionary = dictionaries.a
const usual = (text: string) => deflateRawSync(text, { level: 6, dictionary })

describe.each([
  ['the Node of which it is known', process.versions.node],
  ['another Node', '99.0.0'],
])('on %s', (_, node) => {
  const zlib = createKeptZlib(dictionary, { node })

  it('packs to the bytes of the public function and unpacks them, one value after another', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const packed = Buffer.from(zlib.pack(text))
        expect(packed.equals(usual(text))).toBe(true)
        expect(zlib.unpack(packed)).toBe(text)
      }),
      { seed, numRuns: 500 },
    )
  })

  it('packs and unpacks values that are larger than its room, and small ones behind them', () => {
    const large = [randomBytes(200_000).toString('hex'), 'ä'.repeat(3_000_000)]
    for (const text of [...large, '{"a":1}', large[0]!, '', '{"b":2}']) {
      const packed = Buffer.from(zlib.pack(text))
      expect(packed.equals(usual(text))).toBe(true)
      expect(zlib.unpack(packed) === text).toBe(true)
    }
  })

  it('throws for bytes that are damaged or cut off, and reads those that follow', () => {
    const good = Buffer.from(zlib.pack(`{"company_name":"${'a name of some length '.repeat(9)}"}`))
    expect(() => zlib.unpack(good.subarray(0, good.length - 3))).toThrow('unexpected end of file')
    expect(() => zlib.unpack(Buffer.from([0xff, 0xff, 0xff]))).toThrow('invalid block type')
    expect(() => zlib.unpack(Buffer.alloc(0))).toThrow('unexpected end of file')
    expect(zlib.unpack(good)).toContain('a name of some length')
  })
})

it('throws for what unpacks to more than any answer', () => {
  const zlib = createKeptZlib(dictionary)
  expect(() => zlib.unpack(usual('a'.repeat(65 * 1024 * 1024)))).toThrow('larger than')
})

it('keeps what one dictionary has packed apart from what another has', () => {
  const [first, second] = [createKeptZlib(dictionaries.a), createKeptZlib(dictionaries.p)]
  const text = '{"company_name":"Acme","industry":"software"}'
  const packed = Buffer.from(first.pack(text))
  second.pack('another')
  expect(first.unpack(packed)).toBe(text)
})
