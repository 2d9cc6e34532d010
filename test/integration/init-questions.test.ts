import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ask, type Answers } from '../../src/cli/setup/ask.ts'

const main = join(import.meta.dirname, '../../src/cli/main.ts')
const key = `0x${'11'.repeat(32)}`

describe('the questions', () => {
  const down = '\u001b[B'
  const enter = '\r'

  /** Answers each question when it is on the screen. Returns what was asked for and everything that was shown. */
  async function answered(
    script: readonly (readonly [question: string, keys: string])[],
    options: { known?: Record<string, string>; taken?: string[]; hasWallet?: boolean } = {},
  ): Promise<{ answers: Answers | undefined; screen: string }> {
    const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} })
    const output = Object.assign(new PassThrough(), { isTTY: true, columns: 120, rows: 40 })
    let screen = ''
    let next = 0
    output.on('data', (chunk: Buffer) => {
      screen += chunk.toString()
      const [question, keys] = script[next] ?? []
      if (question === undefined || !screen.includes(question)) return
      next += 1
      for (const part of (keys as string).match(/\r|[^\r]+/g) ?? []) setImmediate(() => input.write(part))
    })
    const { known = {}, taken = [], hasWallet = false } = options
    const answers = await ask({ input, output }, known, {
      first: { payment: 'wallet', crms: [] },
      taken,
      hasWallet,
    })
    expect(next, `answered up to: ${script[next]?.[0]}`).toBe(script.length)
    return { answers, screen }
  }

  test('are asked until all is known, and a secret is not shown', async () => {
    const { answers, screen } = await answered(
      [
        ['Base address', `https://data.example.com${enter}`],
        ['logo endpoint', `https://logo.example.com${enter}`],
        ['What pays', enter],
        ['Which wallet', `${down}${enter}`],
        ['private key', `${key}${enter}`],
        ['one lookup may cost', enter],
        ['one run may spend', `0${enter}`],
        ['a day may cost', enter],
        ['Which CRMs', ` ${enter}`],
        ['HubSpot through a private app', `pat-secret${enter}`],
        ["The HubSpot app's secret", `button-secret${enter}`],
        ['.env is there already', `y`],
        ['paydirt.config.ts is there already', enter],
      ],
      { taken: ['.env', 'paydirt.config.ts'] },
    )
    expect(answers).toEqual({
      draft: {
        PAYDIRT_SERVICE_URL: 'https://data.example.com',
        PAYDIRT_LOGO_URL: 'https://logo.example.com',
        PAYDIRT_WALLET_KEY: key,
        PAYDIRT_MAX_PRICE_USD: '0.01',
        PAYDIRT_BUDGET_RUN_USD: '500',
        PAYDIRT_BUDGET_DAY_USD: '100',
        HUBSPOT_ACCESS_TOKEN: 'pat-secret',
        HUBSPOT_CLIENT_SECRET: 'button-secret',
      },
      choices: { payment: 'wallet', crms: ['hubspot'] },
      replace: ['.env'],
      leave: ['paydirt.config.ts'],
    })
    expect(screen).not.toContain('pat-secret')
    expect(screen).not.toContain('button-secret')
    // The real HubSpot has one address, which nobody needs to be asked for.
    expect(screen).not.toContain('Address of the HubSpot API')
    expect(screen).not.toContain(key)
  })

  test('refuse an answer that is not valid and ask again', async () => {
    const { answers, screen } = await answered([
      ['Base address', `http://data.example.com${enter}`],
      ['must be https', `${'\u0015'}https://data.example.com${enter}`],
      ['logo endpoint', enter],
      ['What pays', `${down}${enter}`],
      ['API key', `k-1${enter}`],
      ['one lookup may cost', enter],
      ['one run may spend', enter],
      ['a day may cost', enter],
      ['Which CRMs', enter],
    ])
    expect(screen).toContain('must be https')
    expect(answers).toMatchObject({
      draft: { PAYDIRT_SERVICE_URL: 'https://data.example.com', PAYDIRT_API_KEY: 'k-1' },
      choices: { payment: 'api-key', crms: [] },
    })
  })

  test('ask for the address of a stand-in where the service is on this machine, and take blanks', async () => {
    const { answers } = await answered([
      ['Base address', `http://127.0.0.1:8402${enter}`],
      ['logo endpoint', enter],
      ['What pays', enter],
      ['JSON-RPC', enter],
      ['Which wallet', enter],
      ['one lookup may cost', enter],
      ['one run may spend', enter],
      ['a day may cost', enter],
      ['Which CRMs', ` ${enter}`],
      ['Address of the HubSpot API', enter],
      ['HubSpot through a private app', `pat${enter}`],
      ["The HubSpot app's secret", enter],
    ])
    expect(answers?.draft).toEqual({
      PAYDIRT_SERVICE_URL: 'http://127.0.0.1:8402',
      PAYDIRT_RPC_URL: 'http://127.0.0.1:8545',
      PAYDIRT_MAX_PRICE_USD: '0.01',
      PAYDIRT_BUDGET_RUN_USD: '50',
      PAYDIRT_BUDGET_DAY_USD: '100',
      HUBSPOT_BASE_URL: 'http://127.0.0.1:8403',
      HUBSPOT_ACCESS_TOKEN: 'pat',
    })
  })

  test('given up write nothing', async () => {
    const { answers, screen } = await answered([
      ['Base address', `https://data.example.com${enter}`],
      ['logo endpoint', enter],
      ['What pays', '\u0003'],
    ])
    expect(answers).toBeUndefined()
    expect(screen).toContain('nothing was written')
  })
})

// The program itself in a terminal of its own. `script` of util-linux makes one.
test.skipIf(spawnSync('script', ['--version']).status !== 0)(
  'on a terminal, Ctrl-C at a question ends with 130 and leaves the folder empty',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'paydirt-init-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    // A terminal without a size would break each line after one letter.
    const command = `stty cols 100 rows 40; exec ${process.execPath} ${main} init`
    const child = spawn('script', ['-qefc', command, '/dev/null'], {
      cwd: folder,
      env: { PATH: process.env['PATH'], HOME: folder, TERM: 'xterm' },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    let screen = ''
    child.stdout.on('data', (chunk: Buffer) => {
      const before = screen
      screen += chunk.toString()
      if (!before.includes('Base address') && screen.includes('Base address')) child.stdin.write('\u0003')
    })
    const [status] = (await once(child, 'close')) as [number]
    expect(screen).toContain('nothing was written')
    expect(status).toBe(130)
    expect(readdirSync(folder)).toEqual([])
  },
)
