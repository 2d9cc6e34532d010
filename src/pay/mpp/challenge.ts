import { Challenge } from 'mppx'
import type { Offer, Receipt, ResponseHead, SingleUse } from '../../domain/payment.ts'

/** One challenge of the `Payment` scheme, with its own text: proofs are built from that, so that no key changes its place. */
export interface PaymentChallenge {
  text: string
  challenge: Challenge.Challenge
}

/**
 * Reads the challenges of a 402 from `WWW-Authenticate`, where several, also of other schemes, may stand in one header.
 * One that cannot be read is left out and takes nothing from the others.
 */
export function readChallenges(response: ResponseHead): PaymentChallenge[] {
  if (response.status !== 402) return []
  return challengeTexts(response.headers['www-authenticate'] ?? '').flatMap((text) => {
    const challenge = parseChallenge(text)
    return challenge ? [{ text, challenge }] : []
  })
}

/** Undefined when it cannot be read. */
export function parseChallenge(text: string): Challenge.Challenge | undefined {
  try {
    return Challenge.deserialize(text)
  } catch {
    return undefined
  }
}

/** What every method's challenge says of the request that it is for. */
export function singleUseOf(challenge: Challenge.Challenge): SingleUse {
  const expiresMs = Date.parse(challenge.expires ?? '')
  return {
    realm: challenge.realm,
    digest: challenge.digest ?? null,
    expiresAt: Number.isNaN(expiresMs) ? null : Math.floor(expiresMs / 1000),
    header: Challenge.credentialHeader(challenge).toLowerCase(),
  }
}

/** The part of an offer that is read the same for every method. */
export function commonOffer({ text, challenge }: PaymentChallenge) {
  return {
    version: 1,
    scheme: `${challenge.method}/${challenge.intent}`,
    amount: word(challenge.request['amount']),
    maxTimeoutSeconds: 0,
    paymentFlow: flowOf(challenge),
    singleUse: singleUseOf(challenge),
    raw: { challenge: text },
  } satisfies Partial<Offer>
}

/** A text of the server's, bounded. What should be a text and is not stands in angle brackets, which no rule lets through. */
export function word(value: unknown): string {
  if (value === undefined || value === null) return ''
  return (typeof value === 'string' ? value : `<${JSON.stringify(value)}>`).slice(0, 200)
}

export function details(challenge: Challenge.Challenge): Record<string, unknown> {
  const value = challenge.request['methodDetails']
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** The protocol has no word for when the money moves; a server that has one of its own is taken by it. */
function flowOf(challenge: Challenge.Challenge): string {
  return word(details(challenge)['paymentFlow'] ?? challenge.request['paymentFlow'] ?? 'unsaid')
}

/**
 * Cuts the header where a `Payment` scheme begins: at its start or after a comma, and not inside a quoted string. What
 * follows of another scheme stays on and is not read as a parameter.
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

/** Reasons go to the journal and to logs: the problem's type and a machine's word. Its text may hold the proof itself. */
export function readProblem(response: ResponseHead): Receipt | undefined {
  if (response.status !== 402) return undefined
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

/** Servers pass on what the token's contract says, in its own words; others end with a word of their own. */
function causeIn(detail: string): string | undefined {
  if (/exceeds balance|insufficient[ _](funds|balance)/i.test(detail)) return 'insufficient_balance'
  if (/authorization is used|already[ _]used/i.test(detail)) return 'nonce_already_used'
  return /: ([a-z0-9]+(?:_[a-z0-9]+){1,8})\.?$/.exec(detail)?.[1]
}
