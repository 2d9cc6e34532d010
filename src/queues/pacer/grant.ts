import { z } from 'zod'
import type { TokenGrant } from './token.ts'

/**
 * Encodes the grant in its own id, so that any process can tell the learner about it when the answer comes. Opaque to
 * callers: `<time>.<epoch>.<busy>.<random>` and four numbers for each window.
 */
export function encodeGrant(grant: TokenGrant, nonce: string): string {
  const places = grant.places.map((p) => [p.anchorMs, p.lengthMs, p.index, p.ordinal].join('_'))
  return [grant.atMs, grant.epoch, grant.busy ? 1 : 0, nonce, ...places].join('|')
}

export type GrantFacts = Omit<TokenGrant, 'lane'>

const number = z
  .string()
  .regex(/^-?\d+(\.\d+)?$/)
  .transform(Number)
const head = z.tuple([number, number, z.enum(['0', '1']), z.string()])
const place = z.tuple([number, number, number, number])

/** @throws TypeError for a text that `take` did not return */
export function decodeGrant(grantId: string): GrantFacts {
  const parts = grantId.split('|')
  const facts = head.safeParse(parts.slice(0, 4))
  const places = z.array(place).safeParse(parts.slice(4).map((p) => p.split('_')))
  if (!facts.success || !places.success) throw new TypeError('not a grant of this pacer')
  const [atMs, epoch, busy] = facts.data
  return {
    atMs,
    epoch,
    busy: busy === '1',
    places: places.data.map(([anchorMs, lengthMs, index, ordinal]) => ({
      anchorMs,
      lengthMs,
      index,
      ordinal,
    })),
  }
}
