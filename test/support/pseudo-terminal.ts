import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

const main = join(import.meta.dirname, '../../src/cli/main.ts')

/** `script` of util-linux makes the terminal; the one of BSD and macOS takes other options. */
export const hasTerminal = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes(
  'util-linux',
)

export interface Shown {
  status: number
  /** With escape sequences, as the terminal got it. */
  raw: string
  /** Without them; of a line that was written over, each form is a line. */
  text: string
  /** From the start to the first character, and to the end. */
  firstMs: number
  ms: number
}

/** Runs `paydirt` in a terminal of 100 columns, with nothing of this process's own settings. Types `keys` at once. */
export async function inTerminal(
  args: readonly string[],
  settings: { cwd: string; env?: Record<string, string>; keys?: string },
): Promise<Shown> {
  const command = ['exec', process.execPath, main, ...args].map(shellWord).join(' ')
  const startedAt = performance.now()
  const child = spawn('script', ['-qefc', `stty cols 100 rows 40; ${command}`, '/dev/null'], {
    cwd: settings.cwd,
    env: {
      PATH: process.env['PATH'],
      HOME: settings.cwd,
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      ...settings.env,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  if (settings.keys !== undefined) child.stdin.write(settings.keys)
  const shown: Buffer[] = []
  let firstMs = 0
  child.stdout.on('data', (chunk: Buffer) => {
    if (shown.length === 0) firstMs = performance.now() - startedAt
    shown.push(chunk)
  })
  const [status] = (await once(child, 'close')) as [number]
  const raw = Buffer.concat(shown).toString()
  const text = stripVTControlCharacters(raw).replace(/\r+\n?/g, '\n')
  return { status, raw, text, firstMs, ms: performance.now() - startedAt }
}

function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
