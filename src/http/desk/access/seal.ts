import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const algorithm = 'aes-256-gcm'
const [nonceBytes, tagBytes] = [12, 16]

/**
 * Seals a text for an address: a search may name a person, and addresses are kept in the logs of proxies and in the history of
 * browsers. Only a desk on the same ledger can open it.
 */
export function sealText(keyHex: string, text: string): string {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, Buffer.from(keyHex, 'hex'), nonce)
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')
}

/** Returns the text, or undefined for what this desk has not sealed. */
export function openSealed(keyHex: string, sealed: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url')
  if (bytes.length <= nonceBytes + tagBytes) return undefined
  try {
    const cipher = createDecipheriv(algorithm, Buffer.from(keyHex, 'hex'), bytes.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    })
    cipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
    return cipher.update(bytes.subarray(nonceBytes + tagBytes), undefined, 'utf8') + cipher.final('utf8')
  } catch {
    return undefined
  }
}
