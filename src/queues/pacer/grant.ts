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

const isNumber = /^-?\d+(\.\d+)?$/

/** @throws TypeError for a text that `take` did not return */
export function decodeGrant(grantId: string): GrantFacts {
  const [atMs, epoch, busy, nonce, ...places] = grantId.split('|')
  if (nonce === undefined || (busy !== '0' && busy !== '1')) throw notAGrant()
  return {
    atMs: numberIn(atMs),
    epoch: numberIn(epoch),
    busy: busy === '1',
    places: places.map((text) => {
      const [anchorMs, lengthMs, index, ordinal, ...more] = text.split('_')
      if (more.length > 0) throw notAGrant()
      return {
        anchorMs: numberIn(anchorMs),
        lengthMs: numberIn(lengthMs),
        index: numberIn(index),
        ordinal: numberIn(ordinal),
      }
    }),
  }
}

function numberIn(text: string | undefined): number {
  if (text === undefined || !isNumber.test(text)) throw notAGrant()
  return Number(text)
}

function notAGrant(): TypeError {
  return new TypeError('not a grant of this pacer')
}
