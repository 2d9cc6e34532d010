import { keccak256, toBytes, type Hex } from 'viem'

/** Returns the nonce of an attempt. The same seed gives the same nonce, which the token takes once. */
export function nonceOf(seed: string): Hex {
  return keccak256(toBytes(`paydirt:${seed}`))
}
