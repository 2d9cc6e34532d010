import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { ConfigError } from '../../domain/errors.ts'
import { makeDataDir } from '../../store/database/private-files.ts'

export function walletFile(dataDir: string): string {
  return join(dataDir, 'wallet.key')
}

/** Writes a new key to a file that only its owner can read, and returns the address. Throws ConfigError instead of overwriting a key. */
export async function createWallet(path: string): Promise<string> {
  const key = generatePrivateKey()
  await makeDataDir(dirname(path))
  try {
    await writeFile(path, `${key}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new ConfigError('wallet_exists', `${path} already has a key; it is not overwritten`)
  }
  return privateKeyToAccount(key).address
}

/** Returns the key in a file, or undefined when there is no such file. Throws ConfigError when the file has anything else. */
export async function readWallet(path: string): Promise<`0x${string}` | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const key = text.trim()
  if (!/^0x[0-9a-fA-F]{64}$/.test(key))
    throw new ConfigError('bad_wallet', `${path} has no private key (0x and 64 hex digits)`)
  return key as `0x${string}`
}
