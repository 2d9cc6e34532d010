import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { paydirt, startPaydirt, type Ended, type Running, type Settings } from '../support/cli.ts'
import { wordsOf } from '../support/examples.ts'
import { freePort } from '../support/free-port.ts'
import { isFullSize } from '../support/full-size.ts'
import { freshStores, type FreshStores } from '../support/stores.ts'

const text = readFileSync(join(import.meta.dirname, '../../docs/tour.md'), 'utf8')
const lines = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) =>
  block.trim().split('\n'),
)

let stores: FreshStores
/** The folder that takes the place of the checkout for the reader of the tour. */
let home: string
let cwd: string
let sandbox: Running | undefined
/** The addresses of the stand-ins here, whose ports are free ones. In the tour the folder's own settings say them. */
let addresses: Record<string, string> = {}
let webPort: number
let lastSync: string | undefined
/** The demo has its folder's own stores, on whatever stores the tests run. */
const alone = {
  PAYDIRT_DATA_DIR: undefined,
  PAYDIRT_REDIS_PREFIX: undefined,
  DATABASE_URL: undefined,
  REDIS_URL: undefined,
}
const settings = (): Settings => ({
  stores,
  cwd,
  env: { ...alone, ...addresses, PAYDIRT_PORT: String(webPort) },
})

beforeAll(async () => {
  stores = await freshStores()
  home = join(stores.dataDir, 'checkout')
  cwd = home
  await mkdir(home)
  webPort = await freePort()
})
afterAll(async () => {
  sandbox?.kill('SIGKILL')
  await sandbox?.ended
  await stores.cleanup()
})

test('the tour has its commands and its pictures', () => {
  expect(lines.length).toBeGreaterThan(15)
  const pictures = [...text.matchAll(/!\[[^\]]{20,}\]\((tour\/[\w-]+\.png)\)/g)].map(([, path]) => path!)
  expect(pictures.length).toBeGreaterThan(3)
  const missing = pictures.filter((path) => !existsSync(join(import.meta.dirname, '../../docs', path)))
  expect(missing).toEqual([])
})

// At full size only: each command is a process of its own.
test.skipIf(!isFullSize).each(lines.map((line, at): [string, number] => [line, at]))(
  '%s (%i)',
  async (line, at) => {
    if (line.startsWith('cd ')) return changeFolder(line)
    if (line.startsWith('printf ')) {
      expect(spawnSync('sh', ['-c', line], { cwd }).status).toBe(0)
      return
    }
    if (line === 'npm run demo') {
      await see(['demo'])
      addresses = await silentAddresses()
      return
    }
    const args = wordsOf(line.replace(/^npx paydirt /, '')).map((word) =>
      word === 'RUN' ? (lastSync ?? '') : word,
    )
    if (args[0] === 'sandbox') return startSandbox(args)
    if (args[0] === 'start')
      return lookAtDesk(lines.slice(0, at).some((before) => before.includes('sandbox')))
    return see(args)
  },
)

test.skipIf(!isFullSize)('the sandbox ends on Ctrl-C', async () => {
  sandbox?.kill('SIGINT')
  expect(await sandbox?.ended).toMatchObject({ status: 0 })
})

/** The expected output of each command of the tour, and its exit code where that is not 0. */
const said: [RegExp, string, number?][] = [
  [/^demo/, 'ledger and chain agree to the cent'],
  [/^history csv/, 'company_name: '],
  [/^csv mine\.csv --object company --plan/, "add --map 'profile=Network link'", 2],
  [/^csv .*--map .* --plan/, '2 different profiles, 1 duplicate'],
  [/^csv .* --out/, '2 paid'],
  [/^doctor/, 'account 62515'],
  [/^sync .* --plan/, '11 to buy'],
  [/^sync (?!.*--plan)/, '11 paid'],
  [/^history hubspot/, 'employees: (blank) → '],
  [/^explain/, 'Spent on this record so far: 0.010000 USD.'],
  [/^undo .* --plan/, 'would be restored, 1 not touched'],
  [/^undo (?!.*--plan)/, 'restored, 1 not touched'],
  [/^reconcile/, 'ledger and chain agree'],
]

async function see(args: string[]): Promise<void> {
  const ended = await paydirt(args, settings())
  const [, expected, status = 0] = said.find(([pattern]) => pattern.test(args.join(' '))) ?? []
  expect({ status: ended.status, all: all(ended) }).toEqual({ status, all: expect.anything() as string })
  if (expected !== undefined) expect(all(ended)).toContain(expected)
  if (args[0] === 'sync') lastSync = /^run (\S+):/m.exec(ended.stdout)?.[1] ?? lastSync
}

const all = ({ stdout, stderr }: Ended) => stdout + stderr

/** The second terminal begins in the checkout too. */
function changeFolder(line: string): void {
  cwd = join(home, line.slice('cd '.length))
  expect(existsSync(cwd)).toBe(true)
}

/**
 * Returns the addresses that the demo has written, on a port at which nothing answers. The reader's machine has nothing there
 * either until the sandbox starts, while the machine of a test may have another program at the ports of the text.
 */
async function silentAddresses(): Promise<Record<string, string>> {
  const written = parseEnv(await readFile(join(home, 'demo-out/.env'), 'utf8'))
  const port = await freePort()
  const local = Object.entries(written).flatMap(([name, value = '']) =>
    value.startsWith('http://127.0.0.1:') ? [[name, value.replace(/:\d+/, `:${port}`)]] : [],
  )
  expect(local.map(([name]) => name)).toContain('PAYDIRT_RPC_URL')
  return Object.fromEntries(local) as Record<string, string>
}

async function startSandbox(args: string[]): Promise<void> {
  const free = ['--port', '0', '--rpc-port', '0', '--crm-port', '0', '--json']
  sandbox = startPaydirt([...args, ...free, '--paydirt-url', `http://127.0.0.1:${webPort}`], settings())
  await sandbox.said(/Ctrl-C ends it/)
  addresses = (JSON.parse(sandbox.printed()) as { settings: Record<string, string> }).settings
}

/** Opens the desk, presses the button of a company and changes a value of another one, where there is a CRM. */
async function lookAtDesk(hasCrm: boolean): Promise<void> {
  const running = startPaydirt(['start'], settings())
  try {
    await running.said(/^web: /m)
    const desk = await fetch(`http://127.0.0.1:${webPort}/runs`)
    expect({ status: desk.status, text: await desk.text() }).toEqual({
      status: 200,
      text: expect.stringContaining('companies.csv') as string,
    })
    if (!hasCrm) return
    const companies = `${addresses['HUBSPOT_BASE_URL']}/_sandbox/companies`
    const ids = [...(await (await fetch(companies)).text()).matchAll(/companies\/(\d+)"/g)].map(
      ([, id]) => id!,
    )
    const unmarked = ids.at(-1)!
    const pressed = await fetch(`${companies}/${unmarked}/press`, { method: 'POST' })
    expect(await pressed.text()).toContain('Paydirt says')
    const body = new URLSearchParams({ field: 'numberofemployees', value: '50' })
    await fetch(`${companies}/9999615`, { method: 'POST', body })
  } finally {
    running.kill('SIGINT')
    expect(await running.ended).toMatchObject({ status: 0 })
  }
}
