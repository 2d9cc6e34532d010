import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { environmentVariables } from '../../app/config/environment.ts'
import { InputError } from '../../domain/errors.ts'
import { ownCommand } from '../terminal/own-command.ts'
import { printError } from '../terminal/print.ts'
import type { DemoFolder } from './demo-folder.ts'

const main = join(import.meta.dirname, '../main.ts')

interface StepOptions {
  environment: Readonly<Record<string, string>>
  signal: AbortSignal
  say: (text: string) => void
  /** The commands that ended well, which two kinds of steps may share. */
  commands?: string[]
}

/**
 * The steps of a demo: the commands that a person would enter, each in a process of its own in the demo's folder. Their output is passed on
 * as it comes.
 */
export function demoSteps({ path }: DemoFolder, { environment, signal, say, commands = [] }: StepOptions) {
  const own = ownCommand(path)
  const inherited = Object.entries(process.env).filter(([name]) => !environmentVariables.includes(name))
  const env = { ...Object.fromEntries(inherited), ...environment }

  return {
    commands,
    async step(words: string, ...args: string[]): Promise<string> {
      if (signal.aborted) return ''
      say(`${words}\n  ${own} ${args.join(' ')}`)
      const { status, printed } = await run(args, { cwd: path, env, signal })
      say(shortened(printed))
      if (status !== 0 && !signal.aborted) throw demoStopped(`${own} ${args.join(' ')} ended with ${status}`)
      commands.push(args.join(' '))
      return printed
    },
  }
}

export function demoStopped(why: string): InputError {
  return new InputError('demo_stopped', `the demo ends here: ${why}`)
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
export function idAfter(command: string, printed: string): string {
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
