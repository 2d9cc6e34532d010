import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { environmentVariables } from '../../app/config/environment.ts'
import { ConfigError, InputError } from '../../domain/errors.ts'
import type { StandInName } from '../../sandbox/stand-ins.ts'
import { standInNames } from '../terminal/choices.ts'
import { printError } from '../terminal/print.ts'
import { ownCommand } from '../terminal/own-command.ts'
import type { DemoFolder } from './demo-folder.ts'

/** The companies of the list that a new CRM has already, each in another spelling. */
export const knownToCrm = 12

const usualLimit = 60
const entities: Record<StandInName, string> = { hubspot: 'companies', salesforce: 'Account' }
const mark = '// Written by `paydirt demo --list`.\n'
const main = join(import.meta.dirname, '../main.ts')

/** The plan and the run of the list, and the commands that ended well, as `--json` prints them. */
export interface ListDemo {
  planId: string
  runId: string
  commands: string[]
}

interface ListDemoOptions {
  crm: StandInName
  environment: Readonly<Record<string, string>>
  limit: number | undefined
  signal: AbortSignal
  say: (text: string) => void
}

/**
 * Goes from a filter to records in a CRM, and back, by the commands that a person would enter, each in a process of its own in the demo's
 * folder. Their output is passed on as it comes.
 */
export async function demoList(
  folder: DemoFolder,
  { crm, environment, limit = usualLimit, signal, say }: ListDemoOptions,
): Promise<ListDemo> {
  await writeConfig(folder, limit)
  const list = listOf(crm)
  const own = ownCommand(folder.path)
  const inherited = Object.entries(process.env).filter(([name]) => !environmentVariables.includes(name))
  const env = { ...Object.fromEntries(inherited), ...environment }
  const commands: string[] = []

  async function step(words: string, ...args: string[]): Promise<string> {
    if (signal.aborted) return ''
    say(`${words}\n  ${own} ${args.join(' ')}`)
    const { status, printed } = await run(args, { cwd: folder.path, env, signal })
    say(shortened(printed))
    if (status !== 0 && !signal.aborted)
      throw new InputError(
        'demo_stopped',
        `the demo ends here: ${own} ${args.join(' ')} ended with ${status}`,
      )
    commands.push(args.join(' '))
    return printed
  }

  await step('the CRM is read into the index, at no cost:', 'index', crm)
  await step('page 1 tells how many there are, and how many the CRM has:', 'lists', 'preview', list)
  await step('the other pages, within the budget of the list:', 'lists', 'fetch', list)
  const plan = await step('a plan pays nothing and writes nothing:', 'lists', 'plan', list)
  const planId = idAfter('apply', plan)
  const applied = await step('the records of the plan, and no others:', 'apply', planId)
  const runId = idAfter('undo', applied)
  await step('the same list again buys nothing ...', 'lists', 'fetch', list)
  await step('... and makes nothing:', 'lists', 'plan', list)
  await step('the way back, first as a plan:', 'undo', runId, '--plan')
  await step('and done:', 'undo', runId)
  return { planId, runId, commands }
}

function listOf(crm: StandInName): string {
  return `${crm}-fintechs`
}

/**
 * The lists stand in the folder's settings, so that they are there for the commands that a person enters afterwards. Those of both CRMs,
 * because a folder keeps its settings when the demo of the other CRM follows.
 */
async function writeConfig({ path }: DemoFolder, limit: number): Promise<void> {
  const file = join(path, 'paydirt.config.mjs')
  const listInto = (crm: StandInName) => ({
    search: 'company.search',
    filters: { countries: ['DE'], industries: ['Financial Services'] },
    into: { connector: crm, entity: entities[crm] },
    requires: ['domain'],
    limit,
    budgetUsd: '1',
  })
  const lists = Object.fromEntries(standInNames.map((crm) => [listOf(crm), listInto(crm)]))
  const config = {
    pacing: { startPerSecond: 150 },
    payment: { maxPricesUsd: { 'company.search': '0.05' } },
    lists,
  }
  if (existsSync(file) && namesAll(await readFile(file, 'utf8'), Object.keys(lists))) return
  await writeFile(file, `${mark}export default ${JSON.stringify(config, null, 2)}\n`)
}

/** Returns false for the settings of an earlier version's demo. Throws ConfigError for settings of a person. */
function namesAll(text: string, lists: readonly string[]): boolean {
  if (lists.every((list) => text.includes(list))) return true
  if (text.startsWith(mark)) return false
  throw new ConfigError(
    'not_a_demo_folder',
    `paydirt.config.mjs does not name the lists ${lists.join(' and ')}: name a new folder with --out`,
  )
}

async function run(
  args: readonly string[],
  { cwd, env, signal }: { cwd: string; env: NodeJS.ProcessEnv; signal: AbortSignal },
): Promise<{ status: number | null; printed: string }> {
  const child = spawn(process.execPath, [main, ...args], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', process.stderr.isTTY ? 'inherit' : 'pipe'],
  })
  child.stderr?.setEncoding('utf8').on('data', printError)
  // Ctrl-C on a terminal reaches the child by itself; a signal to this process alone does not.
  const stop = () => void child.kill('SIGTERM')
  signal.addEventListener('abort', stop, { once: true })
  let printed = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (printed += text))
  const [status] = (await once(child, 'close')) as [number | null]
  signal.removeEventListener('abort', stop)
  return { status, printed }
}

/** Returns the id that a command names as the argument of the next one. */
function idAfter(command: string, printed: string): string {
  return new RegExp(`\\b${command} (\\w+)`).exec(printed)?.[1] ?? ''
}

const [linesFirst, linesLast] = [9, 3]

/** Returns the beginning and the end of an output, so that the whole way fits on a few screens. */
function shortened(text: string): string {
  const lines = text.trimEnd().split('\n')
  const left = lines.length - linesFirst - linesLast
  const shown =
    left < 2 ? lines : [...lines.slice(0, linesFirst), `... ${left} lines more`, ...lines.slice(-linesLast)]
  return `${shown.map((line) => `    ${line}`).join('\n')}\n`
}
