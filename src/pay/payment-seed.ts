import { createHmac } from 'node:crypto'
import type { Hex } from 'viem'
import type { LookupKey } from '../domain/keys.ts'
import { keccak } from './signing/keccak.ts'

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

/**
 * Returns the text from which an attempt's nonce is derived where the chain shows nonces: nothing in it is random, so that a
 * ledger that was restored from an old backup derives the nonces of what it has bought since, and finds them on the chain.
 * The wallet's key is part of it: without the key, a name can be tried neither against the chain nor against the ledger.
 */
export function derivedSeed(of: {
  ledgerId: string
  key: LookupKey
  attempt: number
  secret: string
}): string {
  const { ledgerId, key, attempt, secret } = of
  return `v2|${createHmac('sha256', secret).update([ledgerId, key, attempt].join('|')).digest('hex')}`
}

/** Returns the nonce of an attempt. The same seed gives the same nonce, which the token takes once. */
export function nonceOf(seed: string): Hex {
  return `0x${Buffer.from(keccak(Buffer.from(`paydirt:${seed}`))).toString('hex')}`
}

/** Returns the `Idempotency-Key` of an attempt. It is the same for every send of the attempt, with any protocol. */
export function paymentIdOf(nonce: Hex): string {
  return `pd_${nonce.slice(2, 42)}`
}

/** Returns the secret of a wallet's seeds. The key itself goes into nothing else than signatures. */
export function seedSecret(walletKey: string): string {
  return createHmac('sha256', walletKey.toLowerCase()).update('paydirt payment seeds').digest('hex')
}
