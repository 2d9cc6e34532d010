import { Challenge } from 'mppx'
import type { Offer, Receipt, ResponseHead, SingleUse } from '../../domain/payment.ts'
import { isStorable, maxChallengeLength } from '../limits/challenge-limits.ts'

/**
 * One challenge of the `Payment` scheme with its original text. Proofs are built from that text, so that the order of
 * its keys never changes.
 */
export interface PaymentChallenge {
  text: string
  challenge: Challenge.Challenge
}

/**
 * Reads the challenges of a 402 from `WWW-Authenticate`. One header may hold several challenges, also of other schemes.
 * A challenge that cannot be read is left out, and the others are still read.
 */
export function readChallenges(response: ResponseHead): PaymentChallenge[] {
  const header = response.headers['www-authenticate'] ?? ''
  if (response.status !== 402 || header.length > maxChallengeLength) return []
  return challengeTexts(header).flatMap((text) => {
    const challenge = parseChallenge(text)
    return challenge ? [{ text, challenge }] : []
  })
}

/** Returns undefined when the text cannot be read. */
export function parseChallenge(text: string): Challenge.Challenge | undefined {
  try {
    return Challenge.deserialize(text)
  } catch {
    return undefined
  }
}

/** Returns the part of a challenge that describes the request it is valid for. It is the same for every method. */
export function singleUseOf(challenge: Challenge.Challenge): SingleUse {
  const expiresMs = Date.parse(challenge.expires ?? '')
  return {
    realm: challenge.realm,
    digest: challenge.digest ?? null,
    expiresAt: Number.isNaN(expiresMs) ? null : Math.floor(expiresMs / 1000),
    header: Challenge.credentialHeader(challenge).toLowerCase(),
  }
}

/** Returns the fields of an offer that are read the same way for every method. */
export function commonOffer({ text, challenge }: PaymentChallenge) {
  return {
    version: 1,
    scheme: `${challenge.method}/${challenge.intent}`,
    amount: word(challenge.request['amount']),
    maxTimeoutSeconds: 0,
    paymentFlow: flowOf(challenge),
    singleUse: singleUseOf(challenge),
    ...(isStorable(challenge) ? {} : { isUnstorable: true as const }),
    raw: { challenge: text },
  } satisfies Partial<Offer>
}

/**
 * Returns a text of the server, bounded in length. A value that should be a text and is not is put in angle brackets,
 * which every rule refuses.
 */
export function word(value: unknown): string {
  if (value === undefined || value === null) return ''
  return (typeof value === 'string' ? value : `<${JSON.stringify(value)}>`).slice(0, 200)
}

export function details(challenge: Challenge.Challenge): Record<string, unknown> {
  const value = challenge.request['methodDetails']
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/**
 * The protocol does not define when the money moves. A server that states it in a field of its own is read by that
 * field.
 */
function flowOf(challenge: Challenge.Challenge): string {
  return word(details(challenge)['paymentFlow'] ?? challenge.request['paymentFlow'] ?? 'unsaid')
}

/**
 * Cuts the header where a `Payment` scheme begins: at the start or after a comma, and not inside a quoted string. Text
 * of another scheme that follows stays attached and is not read as a parameter.
 */
function challengeTexts(header: string): string[] {
  const starts: number[] = []
  let quoted = false
  let boundary = true
  for (let at = 0; at < header.length; at++) {
    const sign = header[at]
    if (quoted) {
      if (sign === '\\') at += 1
      else if (sign === '"') quoted = false
      continue
    }
    if (boundary && schemeAt(header, at)) starts.push(at)
    if (sign === '"') quoted = true
    if (sign !== ' ' && sign !== '\t') boundary = sign === ','
  }
  return starts.map((start, index) => header.slice(start, starts[index + 1]).replace(/,\s*$/, ''))
}

function schemeAt(header: string, at: number): boolean {
  return /^payment\s/i.test(header.slice(at, at + 8))
}

/**
 * Reasons go to the journal and to logs, so they hold only the problem's type and a machine code. The problem's free
 * text may contain the proof itself.
 */
export function readProblem(response: ResponseHead): Receipt | undefined {
  if (response.status !== 402 || response.body.length > maxChallengeLength) return undefined
  const failed = { success: false, transaction: null }
  try {
    const { type, detail } = JSON.parse(response.body) as { type?: unknown; detail?: unknown }
    const kind = /\/([a-z0-9-]{1,60})$/.exec(String(type))?.[1]?.replaceAll('-', '_')
    const cause = typeof detail === 'string' ? causeIn(detail) : undefined
    return { ...failed, reason: [kind, cause].filter(Boolean).join(': ') || null }
  } catch {
    return { ...failed, reason: null }
  }
}

/** Servers pass on the token contract's own error text, or end their text with a machine code. */
function causeIn(detail: string): string | undefined {
  if (/exceeds balance|insufficient[ _](funds|balance)/i.test(detail)) return 'insufficient_balance'
  if (/authorization is used|already[ _]used/i.test(detail)) return 'nonce_already_used'
  return /: ([a-z0-9]+(?:_[a-z0-9]+){1,8})\.?$/.exec(detail)?.[1]
}
