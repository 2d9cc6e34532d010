import type * as Library from 'tiny-secp256k1'
import type { Hex } from 'viem'
import { ConfigError, FatalError } from '../../domain/errors.ts'

type Secp256k1 = typeof Library
let loading: Promise<Secp256k1> | undefined

/**
 * Signs a digest of 32 bytes by ECDSA on secp256k1 and returns r, s and v in 65 bytes. The nonce is that of RFC 6979 and
 * s is the lower of the two, so that a charge that is built again from the journal has the same bytes, whichever library
 * signed it before. Throws FatalError for a key or digest that cannot be signed with.
 */
export async function signDigest(digest: Hex, privateKey: Hex): Promise<Hex> {
  const { signature, recoveryId } = sign(await load(), bytesOf(digest), bytesOf(privateKey))
  // An r above the curve's order has no place in an Ethereum signature; no digest is known that leads to one.
  if (recoveryId > 1) throw new FatalError('cannot_sign', 'the signature of this payment cannot be sent')
  return `0x${Buffer.from(signature).toString('hex')}${recoveryId === 0 ? '1b' : '1c'}`
}

/** Loaded by the first signature: a command that pays nothing does not read and compile a megabyte. */
async function load(): Promise<Secp256k1> {
  loading ??= import('tiny-secp256k1')
  try {
    return await loading
  } catch (cause) {
    throw new ConfigError(
      'cannot_sign',
      'the package tiny-secp256k1 cannot be loaded, so nothing can be signed: install Paydirt again',
      { cause },
    )
  }
}

function sign({ signRecoverable }: Secp256k1, digest: Buffer, privateKey: Buffer) {
  try {
    return signRecoverable(digest, privateKey)
  } catch {
    // Without its cause: nothing that a library says of a key may reach a log.
    throw new FatalError('cannot_sign', 'the wallet cannot sign this payment')
  } finally {
    privateKey.fill(0)
  }
}

function bytesOf(hex: Hex): Buffer {
  return Buffer.from(hex.slice(2), 'hex')
}
