import type { ResponseHead } from '../../domain/payment.ts'

/**
 * The longest challenge that is decoded. Honest ones have one or two thousand characters. A challenge is journaled with
 * every charge, so a server could fill the ledger with longer ones.
 */
export const maxChallengeLength = 16_384
const maxDepth = 64

/** Returns the first place of a 402 whose text is too long to be a challenge. */
export function oversizedPlace({
  headers,
  body,
}: ResponseHead): { place: string; length: number } | undefined {
  const places = [
    ['the payment-required header', headers['payment-required'] ?? ''],
    ['the www-authenticate header', headers['www-authenticate'] ?? ''],
    ['the body', body],
  ] as const
  const found = places.find(([, text]) => text.length > maxChallengeLength)
  return found && { place: found[0], length: found[1].length }
}

/**
 * Returns whether a database can keep every text of this value: none holds U+0000 or half of a surrogate pair, and nothing
 * is nested so deeply that a parser gives up. One row that cannot be read would break every statement over the whole table.
 */
export function isStorable(value: unknown): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > maxDepth) return false
    const next: unknown[] = []
    for (const each of level) {
      if (typeof each === 'string' && !isStorableText(each)) return false
      if (typeof each !== 'object' || each === null) continue
      if (!Object.keys(each).every(isStorableText)) return false
      next.push(...Object.values(each))
    }
    level = next
  }
  return true
}

function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}
