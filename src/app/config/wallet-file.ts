import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { ConfigError } from '../../domain/errors.ts'

export function walletFile(dataDir: string): string {
  return join(dataDir, 'wallet.key')
}

/** Draws a key into a new file that only its owner can read, and answers the address. Never overwrites a key. */
export async function createWallet(path: string): Promise<string> {
  const key = generatePrivateKey()
  await mkdir(dirname(path), { recursive: true })
  try {
    await writeFile(path, `${key}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new ConfigError('wallet_exists', `${path} holds a key already; it is not overwritten`)
  }
  return privateKeyToAccount(key).address
}

/** The key in a file, or undefined when there is no such file. Throws ConfigError when it holds anything else. */
export async function readWallet(path: string): Promise<`0x${string}` | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const key = text.trim()
  if (!/^0x[0-9a-fA-F]{64}$/.test(key))
    throw new ConfigError('bad_wallet', `${path} holds no private key (0x and 64 hex digits)`)
  return key as `0x${string}`
}
