import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { ConfigError } from '../../domain/errors.ts'
import { fileNames } from '../config/file.ts'
import { createWallet, readWallet, walletFile } from '../config/wallet-file.ts'
import { configText } from './config-text.ts'
import { envLines, missingIn, type Choices, type Draft } from './drafts.ts'
import { envText, readEnvText } from './env-file.ts'
import { setAside, writeNew } from './write-new.ts'

export interface Setup {
  written: string[]
  /** Files that were there and are as they were. */
  left: string[]
  /** The path that holds the old text of a replaced file. */
  movedTo: string[]
  /** The wallet that pays; null: an API key does. */
  wallet: { address: string; isNew: boolean; file: string | null } | null
  /** Variables that must still be written into `.env`. */
  missing: string[]
}

/** The setup files that a folder already has. */
export interface Folder {
  path: string
  /** The variables of its `.env`. */
  env: Draft
  /** Its files that a setup would replace, by name. */
  taken: string[]
}

const envName = '.env'

export function lookAt(path: string): Folder {
  const env = join(path, envName)
  const hasEnv = existsSync(env)
  return {
    path,
    env: hasEnv ? readEnvText(readFileSync(env, 'utf8')) : {},
    taken: [
      ...(hasEnv ? [envName] : []),
      ...fileNames.filter((name) => existsSync(join(path, name))).slice(0, 1),
    ],
  }
}

/**
 * Writes `.env`, `paydirt.config.ts` and, where none is there, the key of a wallet. Everything is checked before the first
 * file is written. Throws ConfigError for a value that is not valid, and for a file that is there and is not among those that
 * may be replaced or are to be left.
 */
export async function writeSetup(
  folder: Folder,
  draft: Draft,
  choices: Choices,
  options: { replace: readonly string[]; leave: readonly string[]; now: () => Date },
): Promise<Setup> {
  const { replace, leave, now } = options
  const refused = folder.taken.filter((name) => !replace.includes(name) && !leave.includes(name))
  if (refused.length > 0) {
    throw new ConfigError(
      'file_exists',
      `${refused.join(' and ')} ${refused.length > 1 ? 'are' : 'is'} there already; nothing was written. --force replaces and keeps a copy`,
    )
  }
  const configName = folder.taken.find((name) => name !== envName)
  const files = [
    { name: envName, text: envText(envLines(draft, choices, folder.env)), mode: 0o600 },
    { name: 'paydirt.config.ts', text: configText(choices.crms), mode: 0o644 },
  ]
  const setup: Setup = {
    written: [],
    left: [...leave],
    movedTo: [],
    wallet: null,
    missing: missingIn(draft, choices),
  }
  // The key comes first: when it cannot be written, the folder is as it was.
  if (choices.payment === 'wallet') setup.wallet = await walletOf(folder, draft)
  for (const { name, text, mode } of files) {
    const old = name === envName ? envName : (configName ?? name)
    if (leave.includes(old)) continue
    if (replace.includes(old) && folder.taken.includes(old))
      setup.movedTo.push(await setAside(join(folder.path, old), now(), old === envName ? mode : undefined))
    await writeNew(join(folder.path, name), text, mode)
    setup.written.push(name)
  }
  return setup
}

/** Returns the wallet of `.env`, or the one in the data directory, which is made when there is none. */
async function walletOf({ path }: Folder, draft: Draft): Promise<Setup['wallet']> {
  const key = draft['PAYDIRT_WALLET_KEY']
  if (key !== undefined)
    return { address: privateKeyToAccount(key as `0x${string}`).address, isNew: false, file: null }
  const file = walletFile(resolve(path, draft['PAYDIRT_DATA_DIR'] ?? '.paydirt'))
  const saved = await readWallet(file)
  if (saved !== undefined) return { address: privateKeyToAccount(saved).address, isNew: false, file }
  return { address: await createWallet(file), isNew: true, file }
}
