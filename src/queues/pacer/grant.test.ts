import { expect, it } from 'vitest'
import { decodeGrant, encodeGrant } from './grant.ts'

const grant = {
  atMs: 1_800_000_000_000.25,
  lane: 'background' as const,
  epoch: 4,
  busy: true,
  places: [{ anchorMs: 1_799_999_990_000.7, lengthMs: 60_000, index: -1, ordinal: 17 }],
}

it('carries all that the learner needs in its id', () => {
  const { lane: _, ...facts } = grant
  expect(decodeGrant(encodeGrant(grant, 'c0ffee'))).toEqual(facts)
})

it.each([
  '',
  'x',
  '1|2|3|n',
  '1|2|1',
  '1||1|n',
  '1|2|1|n|5_6',
  '1|2|1|n|1_2_3_4_5',
  '1|2|1|n|a_b_c_d',
  '1|2|1|n|',
])('refuses %j', (id) => {
  expect(() => decodeGrant(id)).toThrow(TypeError)
})
