import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { freshStores } from '../support/stores.ts'

const main = join(import.meta.dirname, '../../src/cli/main.ts')
const noScript = spawnSync('script', ['--version']).status !== 0

/** Runs a command in a pseudo-terminal and returns what the terminal was sent, with ␛ for each escape. */
async function onTerminal(command: string, env: Record<string, string> = {}): Promise<string> {
  const stores = await freshStores()
  onTestFinished(() => stores.cleanup())
  const child = spawn('script', ['-qefc', `"${process.execPath}" "${main}" ${command}`, '/dev/null'], {
    cwd: stores.dataDir,
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
      TERM: 'xterm-256color',
      PAYDIRT_DATA_DIR: stores.dataDir,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [sent] = await Promise.all([text(child.stdout), once(child, 'close')])
  return sent.replaceAll('\r\n', '\n').replaceAll('\u001b', '␛')
}

test.skipIf(noScript)(
  'a terminal sees a command at work before its code is loaded, and its results in colour',
  async () => {
    const sent = await onTerminal('wallet address')
    expect(sent).toMatch(/^\r␛\[2K⠋ starting\r/)
    // The line is gone before anything is printed, and does not come back.
    expect(sent).toMatch(/\r␛\[2K␛\[31mpaydirt:␛\[39m there is no wallet: [^\r]*\n$/)
  },
)

test.skipIf(noScript)('NO_COLOR and --json are kept on a terminal too', async () => {
  expect(await onTerminal('wallet address', { NO_COLOR: '1' })).not.toContain('␛[3')
  const sent = await onTerminal('doctor --json 2> /dev/null', { FORCE_COLOR: '1' })
  expect(JSON.parse(sent)).toMatchObject({ ok: false })
})
