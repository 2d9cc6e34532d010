// `node scripts/run.mjs tour`: takes the pictures of docs/tour.md anew, from a demo of its own in a temporary folder. Needs
// Chromium and pngquant (`apt install chromium pngquant`).
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { chromium, type Page } from 'playwright-core'

const root = join(import.meta.dirname, '../..')
const main = join(root, 'src/cli/main.ts')
const pictures = join(root, 'docs/tour')
const width = 1100

const home = await mkdtemp(join(tmpdir(), 'paydirt-tour-'))
const folder = join(home, 'demo-out')
const running: ChildProcess[] = []
try {
  await mkdir(pictures, { recursive: true })
  say('the demo ...')
  run(['demo', '--out', 'demo-out'], home)
  say('the sandbox, a sync and the desk ...')
  const sandbox = start(['sandbox', '--crm', 'hubspot', '--json', ...freePorts()], {})
  const { settings } = JSON.parse(await lineOf(sandbox, 'stdout', /^\{/)) as {
    settings: Record<string, string>
  }
  run(['sync', 'hubspot', '--object', 'company', '--limit', '20'], folder, settings)
  const desk = start(['start'], { ...settings, PAYDIRT_PORT: '0' })
  const url = /http:\/\/\S+/.exec(await lineOf(desk, 'stderr', /^web: /))?.[0] ?? ''
  await take(
    url,
    settings['HUBSPOT_BASE_URL'] ?? '',
    async () => {
      const [latest] = JSON.parse(run(['runs', '--json', '--limit', '1'], folder, settings)) as {
        runId: string
      }[]
      run(['undo', latest?.runId ?? ''], folder, settings)
    },
    desk,
  )
} finally {
  for (const each of running) await end(each)
  await rm(home, { recursive: true, force: true })
}

async function take(
  desk: string,
  crm: string,
  undo: () => Promise<void>,
  process: ChildProcess,
): Promise<void> {
  const browser = await chromium.launch({
    executablePath: globalThis.process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  })
  try {
    const page = await browser.newPage({ viewport: { width, height: 700 }, colorScheme: 'light' })
    const company = `${crm}/_sandbox/companies/9999615`
    await page.goto(`${desk}/runs`)
    await page
      .getByRole('link', { name: /companies\.csv/ })
      .first()
      .click()
    await shot(page, 'desk-run.png', 760)
    await page.goto(`${desk}/records?q=hubspot:company:9999615`)
    await shot(page, 'desk-record.png', 900)
    await page.goto(`${desk}/spend`)
    await page.locator('#spend-chart[data-drawn]').waitFor()
    await shot(page, 'desk-spend.png', 760)
    await page.goto(company)
    await shot(page, 'crm-record.png', 900)
    // The embedded ledger is one process's at a time.
    await end(process)
    await page.getByLabel('Field').selectOption('numberofemployees')
    await page.getByLabel('Value').fill('50')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('by a person').first().waitFor()
    await undo()
    await page.goto(company)
    await page.getByRole('heading', { name: 'Changes' }).scrollIntoViewIfNeeded()
    await shot(
      page,
      'crm-undone.png',
      800,
      await page.getByRole('heading', { name: 'Changes' }).boundingBox(),
    )
  } finally {
    await browser.close()
  }
}

/** Takes a picture of the page from the top, or from where a part of it begins, and makes the file small. */
async function shot(page: Page, name: string, height: number, from?: { y: number } | null): Promise<void> {
  const path = join(pictures, name)
  const top = from ? from.y + Number(await page.evaluate('scrollY')) - 16 : 0
  const whole = Number(await page.evaluate('document.documentElement.scrollHeight'))
  const clip = { x: 0, y: top, width, height: Math.min(height, whole - top) }
  await page.screenshot({ path, fullPage: true, clip })
  const { status, error } = spawnSync('pngquant', [
    '--force',
    '--skip-if-larger',
    '--strip',
    '--speed',
    '1',
    '--output',
    path,
    '64',
    path,
  ])
  // 98: the smaller file would be larger.
  if (error || (status !== 0 && status !== 98)) throw new Error('pngquant is needed: apt install pngquant')
  say(`${name} ${Math.ceil((await stat(path)).size / 1024)} kB`)
}

function run(args: string[], cwd: string, env: Record<string, string> = {}): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
    cwd,
    env: environment(env),
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  if (status !== 0) throw new Error(`paydirt ${args[0]} ended with ${status}: ${stderr}`)
  return stdout
}

function start(args: string[], env: Record<string, string>): ChildProcess {
  const child = spawn(process.execPath, [main, ...args], {
    cwd: folder,
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.push(child)
  return child
}

/** None of the settings of whoever runs this. */
function environment(env: Record<string, string>): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env
  return { PATH, HOME, TMPDIR, PAYDIRT_LOG_LEVEL: 'silent', ...env }
}

function freePorts(): string[] {
  return ['--port', '0', '--rpc-port', '0', '--crm-port', '0']
}

async function lineOf(child: ChildProcess, stream: 'stdout' | 'stderr', pattern: RegExp): Promise<string> {
  for await (const line of createInterface({ input: child[stream]! })) if (pattern.test(line)) return line
  throw new Error(`a command ended without saying ${pattern}`)
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGINT')
  await once(child, 'exit')
}

function say(text: string): void {
  process.stderr.write(`${text}\n`)
}
