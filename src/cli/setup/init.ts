import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { problemOf, variableSchemas } from '../../app/config/environment.ts'
import { walletFile } from '../../app/config/wallet-file.ts'
import { choicesOf, envLines, type Choices, type Draft, type Payment } from '../../app/setup/drafts.ts'
import { lookAt, writeSetup, type Folder, type Setup } from '../../app/setup/write-setup.ts'
import type { CrmName } from '../../connectors/definitions.ts'
import { ConfigError } from '../../domain/errors.ts'
import { exitStatus } from '../terminal/exit.ts'
import { ownCommand } from '../terminal/own-command.ts'
import { print, printError } from '../terminal/print.ts'
import { ask, type Answers } from './ask.ts'

interface Options {
  serviceUrl?: string
  logoUrl?: string
  rpcUrl?: string
  hubspotUrl?: string
  pay?: Payment
  crm?: CrmName[]
  maxPrice?: string
  budgetRun?: string
  budgetDay?: string
  yes?: true
  force?: true
  json?: true
}

const variables = {
  serviceUrl: 'PAYDIRT_SERVICE_URL',
  logoUrl: 'PAYDIRT_LOGO_URL',
  rpcUrl: 'PAYDIRT_RPC_URL',
  hubspotUrl: 'HUBSPOT_BASE_URL',
  maxPrice: 'PAYDIRT_MAX_PRICE_USD',
  budgetRun: 'PAYDIRT_BUDGET_RUN_USD',
  budgetDay: 'PAYDIRT_BUDGET_DAY_USD',
} as const

export async function init(options: Options): Promise<void> {
  const folder = lookAt(process.cwd())
  const known = knownTo(folder, options)
  const answers = options.yes ? withoutAsking(folder, known, options) : await asked(folder, known, options)
  if (!answers) {
    process.exitCode = exitStatus.interrupted
    return
  }
  const { draft, choices, replace, leave } = answers
  const setup = await writeSetup(folder, draft, choices, { replace, leave, now: () => new Date() })
  const command = ownCommand(folder.path)
  for (const warning of warningsOf(folder, answers)) printError(`paydirt: ${warning}\n`)
  print(options.json ? `${JSON.stringify({ ...setup, next: `${command} doctor` })}\n` : text(setup, command))
}

/**
 * Returns what is set already: by an option, in the shell, in the `.env` of the folder. The first of them counts. Throws
 * ConfigError for an option whose value is not valid.
 */
function knownTo({ env }: Folder, options: Options): Draft {
  const given = Object.entries(variables).flatMap(([option, name]) => {
    const value = options[option as keyof typeof variables]
    if (value === undefined) return []
    const problem = problemOf(name, value)
    if (problem === undefined) return [[name, value]]
    const flag = `--${option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
    throw new ConfigError('bad_option', `${flag} ${problem}`)
  })
  const set = Object.entries({ ...env, ...process.env }).filter(
    ([name, value]) => value && Object.hasOwn(variableSchemas, name),
  )
  return Object.fromEntries([...set, ...given]) as Draft
}

function firstChoices(known: Draft, { pay, crm }: Options): Choices {
  const { payment, crms: connected } = choicesOf(known)
  return { payment: pay ?? payment, crms: crm ?? connected }
}

function withoutAsking({ taken }: Folder, known: Draft, options: Options): Answers {
  const replace = options.force ? [...taken] : []
  return { draft: known, choices: firstChoices(known, options), replace, leave: [] }
}

async function asked({ path, taken }: Folder, known: Draft, options: Options): Promise<Answers | undefined> {
  if (!process.stdin.isTTY) {
    throw new ConfigError(
      'no_terminal',
      'init asks questions, and there is no terminal to ask on: add --yes, with --service-url and the secrets in the environment',
    )
  }
  const hasWallet = existsSync(walletFile(resolve(path, known['PAYDIRT_DATA_DIR'] ?? '.paydirt')))
  const first = firstChoices(known, options)
  return ask({ input: process.stdin, output: process.stderr }, known, { first, taken, hasWallet })
}

/** Returns what would keep the written files from counting, or would give them away. */
function warningsOf({ path }: Folder, { draft, choices, leave }: Answers): string[] {
  const shadowed = envLines(draft, choices, {}).filter(
    ({ name, value }) => value !== undefined && process.env[name] && process.env[name] !== value,
  )
  const { status } = spawnSync('git', ['check-ignore', '-q', '.env'], { cwd: path, stdio: 'ignore' })
  return [
    ...shadowed.map(
      ({ name }) => `${name} is set in your shell to another value, which wins over .env: unset it there`,
    ),
    ...(choices.payment === 'wallet' && process.env['PAYDIRT_API_KEY']
      ? ['PAYDIRT_API_KEY is set in your shell, and a key goes before the wallet: unset it there']
      : []),
    // 1: a repository that does not ignore it. 128: no repository.
    ...(status === 1
      ? ['git does not ignore .env, which holds secrets: add .env and .paydirt/ to .gitignore']
      : []),
    ...leave.map((name) => `${name} was left as it was: your answers are not in it`),
  ]
}

function text({ written, movedTo, wallet, missing }: Setup, command: string): string {
  const lines = [
    ...written.map((name) => `wrote ${name}${name === '.env' ? ' (readable by you alone)' : ''}`),
    ...movedTo.map(
      (name) =>
        `kept the old file as ${name}${basename(name).startsWith('.env') ? ' (readable by you alone; keep it out of version control)' : ''}`,
    ),
    ...(wallet
      ? [
          `wallet ${wallet.address}${wallet.file === null ? '' : ` (${wallet.isNew ? 'new key' : 'key'} in ${wallet.file})`}`,
          ...(wallet.isNew
            ? ['  keep a copy of the key, and send USDC on Base to that address: 1 USDC buys 100 lookups']
            : []),
        ]
      : []),
    ...(missing.length > 0 ? [`still to be written into .env: ${missing.join(', ')}`] : []),
    `next: ${command} doctor`,
  ]
  return `${lines.join('\n')}\n`
}
