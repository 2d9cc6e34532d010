import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { environmentVariables } from '../../app/config/environment.ts'
import { createWallet, readWallet, walletFile } from '../../app/config/wallet-file.ts'
import { readEnvText } from '../../app/setup/env-file.ts'
import { ConfigError } from '../../domain/errors.ts'
import type { StandInName } from '../../sandbox/stand-ins.ts'
import { ownCommand } from '../terminal/own-command.ts'
import { crmPort, sandboxPorts } from './ports.ts'

/** A folder with a ledger, a wallet and a chain of play money, in which every command works on them and on nothing else. */
export interface DemoFolder {
  path: string
  dataDir: string
  /** Keeps the chain from one start to the next. */
  stateFile: string
}

const mark =
  '# Written by `paydirt demo`: play money on a chain of this machine. Never put a real wallet here.'

const variables: Readonly<Record<string, string>> = {
  PAYDIRT_SERVICE_URL: `http://127.0.0.1:${sandboxPorts.service}`,
  PAYDIRT_LOGO_URL: `http://127.0.0.1:${sandboxPorts.service}/logo`,
  PAYDIRT_RPC_URL: `http://127.0.0.1:${sandboxPorts.chain}`,
  PAYDIRT_DATA_DIR: '.paydirt',
}

/** These decide what is paid for and where it is kept: in a demo's folder they are the demo's own, or absent. */
const ours = [...Object.keys(variables), 'PAYDIRT_WALLET_KEY', 'PAYDIRT_API_KEY', 'DATABASE_URL', 'REDIS_URL']

/** Returns the folder when a demo has made it, and undefined otherwise. */
export function demoFolderAt(path: string): DemoFolder | undefined {
  const env = join(path, '.env')
  if (!existsSync(env)) return undefined
  const text = readFileSync(env, 'utf8')
  const read = readEnvText(text)
  if (!text.startsWith(mark) || ours.some((name) => read[name] !== variables[name])) return undefined
  const dataDir = resolve(path, '.paydirt')
  return { path: resolve(path), dataDir, stateFile: join(dataDir, 'chain.json') }
}

/**
 * Makes a folder into a demo's, or continues an earlier demo there. Throws ConfigError where the folder has settings or a
 * ledger already: those may be real.
 */
export async function openDemoFolder(path: string): Promise<DemoFolder> {
  const found = demoFolderAt(path)
  if (found) return found
  const taken = existsSync(path) ? readdirSync(path).find(isSetting) : undefined
  if (taken !== undefined) {
    throw new ConfigError(
      'not_a_demo_folder',
      `${join(path, taken)} is not this demo's: a demo never shares a folder with another ledger; name a new one with --out`,
    )
  }
  await mkdir(path, { recursive: true })
  // Written before the ledger, so that a demo that is killed is recognised by the next one.
  await writeFile(join(path, '.env'), envText(resolve(path)), { mode: 0o600 })
  return openDemoFolder(path)
}

/** Returns the settings of a CRM's stand-in with the port at which `paydirt sandbox` starts it. */
export function atUsualPort(
  crm: StandInName,
  settings: Readonly<Record<string, string>>,
): Record<string, string> {
  const address = `http://127.0.0.1:${crmPort(crm)}`
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [
      name,
      /^http:\/\/127\.0\.0\.1:\d+$/.test(value) ? address : value,
    ]),
  )
}

/** Adds the settings of a CRM's stand-in that the folder does not have yet. Returns their names. */
export async function addSettings(
  { path }: DemoFolder,
  settings: Readonly<Record<string, string>>,
): Promise<string[]> {
  const file = join(path, '.env')
  const text = readFileSync(file, 'utf8')
  const there = readEnvText(text)
  const missing = Object.entries(settings).filter(([name]) => !(name in there))
  if (missing.length === 0) return []
  const lines = missing.map(([name, value]) => `${name}=${value}\n`).join('')
  await writeFile(file, `${text}${lines}`)
  return missing.map(([name]) => name)
}

/** Returns the settings that the folder has with another value: its commands would not meet this sandbox. */
export function differingSettings(
  { path }: DemoFolder,
  settings: Readonly<Record<string, string>>,
): string[] {
  const there = readEnvText(readFileSync(join(path, '.env'), 'utf8'))
  return Object.keys(settings).filter((name) => there[name] !== settings[name])
}

export async function demoWallet({ dataDir }: Pick<DemoFolder, 'dataDir'>): Promise<`0x${string}`> {
  const file = walletFile(dataDir)
  const saved = await readWallet(file)
  if (saved !== undefined) return saved
  await createWallet(file)
  return demoWallet({ dataDir })
}

/** A variable of the shell wins over one of the folder. These do not change what the commands work on. */
const harmless = new Set(['PAYDIRT_HOST', 'PAYDIRT_PORT', 'PAYDIRT_LOG_LEVEL'])

/**
 * Returns the lines that a person copies to run commands in a demo's folder: the way there, then the commands. Variables of
 * the shell that would lead them to another ledger or service are taken away.
 */
export function commandLines(
  { path }: DemoFolder,
  commands: readonly string[],
  { from, env }: { from: string; env: NodeJS.ProcessEnv },
): string[] {
  const short = relative(from, path) || '.'
  const way = short.startsWith('..') ? path : short
  const shadows = environmentVariables.filter((name) => env[name] && !harmless.has(name))
  const without = shadows.length === 0 ? '' : `env ${shadows.map((name) => `-u ${name}`).join(' ')} `
  const own = ownCommand(path)
  return [
    ...(way === '.' ? [] : [`cd ${quoted(way)}`]),
    ...commands.map((command) => `${without}${own} ${command}`),
  ]
}

function isSetting(name: string): boolean {
  return name === '.env' || name === '.paydirt' || name.startsWith('paydirt.config.')
}

function envText(path: string): string {
  return `${mark}
# Looking at the ledger needs nothing else. To look up or sync more, run this in the same folder, and leave it running:
#   ${ownCommand(path)} sandbox
${Object.entries(variables)
  .map(([name, value]) => `${name}=${value}\n`)
  .join('')}`
}

function quoted(word: string): string {
  return /^[\w./@+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
