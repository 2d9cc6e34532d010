import type { LookupKey } from '../domain/keys.ts'

/**
 * Returns the text from which the nonce and the payment id of an attempt are derived.
 *
 * - The ledger's id keeps two ledgers of one wallet apart.
 * - The salt is random, one for each row of a lookup. A subject that was forgotten and is wanted again has a new row, whose
 *   attempts begin at 1 again: without the salt they would derive the nonces that its old charges have used. `forget` erases
 *   the salt with the row, so that the nonce, which stays in the accounts and on the chain, cannot be tried against names.
 * - A lookup older than salts has none. Its seed stays what it was.
 */
export function paymentSeed(of: {
  ledgerId: string
  key: LookupKey
  salt: string | null
  attempt: number
}): string {
  const { ledgerId, key, salt, attempt } = of
  return [ledgerId, ...(salt === null ? [] : [salt]), key, attempt].join('|')
}
