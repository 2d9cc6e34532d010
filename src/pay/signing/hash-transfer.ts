import { authorizationTypes } from '@x402/evm'
import {
  domainSeparator,
  hashTypedData,
  isAddress,
  isHex,
  keccak256,
  stringToHex,
  type Address,
  type Hex,
  type TypedDataDefinition,
} from 'viem'
import { keccak } from './keccak.ts'

const primaryType = 'TransferWithAuthorization'
const transferFields = JSON.stringify(authorizationTypes[primaryType])
const typeHash = keccak256(
  stringToHex(
    `${primaryType}(${authorizationTypes[primaryType].map(({ name, type }) => `${type} ${name}`).join(',')})`,
  ),
).slice(2)
const maxDomains = 32
/** The version byte of EIP-191, and that of structured data. */
const signedData = Buffer.from([0x19, 0x01])

interface Domain {
  name: string
  version: string
  chainId: number
  verifyingContract: Address
}

/** The message of an EIP-3009 transfer. */
interface Transfer {
  from: Address
  to: Address
  value: bigint
  validAfter: bigint
  validBefore: bigint
  nonce: Hex
}

/**
 * Returns a function that hashes typed data by EIP-712, as viem's `hashTypedData` does. The payments of one wallet differ
 * in amount, nonce and times, so for a transfer of EIP-3009 the hash of its type and of its token's domain are made once.
 * Anything but exactly such a transfer goes to viem, which also refuses what cannot be hashed.
 */
export function createTypedDataHash(hash = keccak): (typedData: TypedDataDefinition) => Hex {
  const separators = new Map<string, Buffer>()

  function separatorOf(domain: Domain): Buffer {
    const key = JSON.stringify([domain.name, domain.version, domain.chainId, domain.verifyingContract])
    const known = separators.get(key)
    if (known !== undefined) return known
    // The policy admits one token on a few networks; a caller that names others fills no memory.
    if (separators.size >= maxDomains) separators.clear()
    const separator = Buffer.from(domainSeparator({ domain }).slice(2), 'hex')
    separators.set(key, separator)
    return separator
  }

  return (typedData) => {
    const found = asTransfer(typedData)
    if (!found) return hashTypedData(typedData)
    const { domain, words } = found
    const struct = hash(Buffer.from(typeHash + words.join(''), 'hex'))
    const digest = hash(Buffer.concat([signedData, separatorOf(domain), struct]))
    return `0x${Buffer.from(digest).toString('hex')}`
  }
}

/** Returns the domain and the message as words of 32 bytes, or undefined for anything but a transfer that can be signed. */
function asTransfer(typedData: TypedDataDefinition): { domain: Domain; words: string[] } | undefined {
  const { types, domain, message } = typedData as TypedDataDefinition & { types: Record<string, unknown> }
  const fields = types[primaryType]
  const isTransfer = fields === authorizationTypes[primaryType] || JSON.stringify(fields) === transferFields
  if (typedData.primaryType !== primaryType || !isTransfer) return undefined
  if (types['EIP712Domain'] !== undefined || !isTokenDomain(domain)) return undefined
  const { from, to, value, validAfter, validBefore, nonce } = message as unknown as Transfer
  const words = [
    addressWord(from),
    addressWord(to),
    numberWord(value),
    numberWord(validAfter),
    numberWord(validBefore),
    isHex(nonce) && nonce.length === 66 ? nonce.slice(2) : undefined,
  ]
  return words.includes(undefined) ? undefined : { domain, words: words as string[] }
}

function isTokenDomain(domain: unknown): domain is Domain {
  if (typeof domain !== 'object' || domain === null) return false
  const { name, version, chainId, verifyingContract } = domain as Domain
  return (
    typeof name === 'string' &&
    typeof version === 'string' &&
    Number.isSafeInteger(chainId) &&
    typeof verifyingContract === 'string' &&
    Object.keys(domain).length === 4
  )
}

/** A wallet pays from one address, and to few. */
const addressWords = new Map<string, string>()

/** An address whose checksum is wrong is left to viem, which refuses it. */
function addressWord(address: unknown): string | undefined {
  if (typeof address !== 'string') return undefined
  const known = addressWords.get(address)
  if (known !== undefined) return known
  if (!isAddress(address)) return undefined
  const word = address.slice(2).toLowerCase().padStart(64, '0')
  if (addressWords.size >= maxDomains) addressWords.clear()
  addressWords.set(address, word)
  return word
}

function numberWord(value: unknown): string | undefined {
  if (typeof value !== 'bigint' || value < 0n) return undefined
  const hex = value.toString(16)
  return hex.length > 64 ? undefined : hex.padStart(64, '0')
}
