// One file because each kind of demo is held to the same folder, wallet and closing lines.
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { paydirt, startPaydirt, type Ended, type Running, type Settings } from '../support/cli.ts'
import { wordsOf } from '../support/examples.ts'
import { isFullSize } from '../support/full-size.ts'
import { freshStores, type FreshStores } from '../support/stores.ts'

interface Demo {
  runs: { runId: string; connector: string; spend: { settled: string }; tasks: { written: number } }[]
  paid: string
  agree: boolean
  folder: string
  next: string[]
}

let stores: FreshStores
/** The user's own folder, in which the demo is started. */
let home: string
const at = (...names: string[]) => join(home, ...names)
const bare = {
  PAYDIRT_DATA_DIR: undefined,
  PAYDIRT_REDIS_PREFIX: undefined,
  DATABASE_URL: undefined,
  REDIS_URL: undefined,
}
const settings = (cwd: string, env: Settings['env'] = {}): Settings => ({
  stores,
  cwd,
  env: { ...bare, ...env },
})
const demo = (args: string[], env?: Settings['env']) => paydirt(['demo', ...args], settings(home, env))
const quick = ['--crm', 'hubspot', '--limit', '3']

beforeAll(async () => {
  stores = await freshStores()
  home = join(stores.dataDir, 'home')
  await mkdir(home)
})
afterAll(() => stores.cleanup())

// At full size only, as much of it is processes that start.
describe.skipIf(!isFullSize)('the demo', () => {
  let first: Demo
  let printed: Ended

  beforeAll(async () => {
    printed = await demo([...quick, '--out', 'play', '--json'])
    first = printed.json<Demo>()
  })

  test('leaves a ledger in its own folder, where the commands that it names find it', async () => {
    expect(first.folder).toBe(at('play'))
    expect(first.agree).toBe(true)
    const [way, ...commands] = first.next
    expect(way).toBe('cd play')
    expect(commands).toHaveLength(3)
    expect(printed.stderr).toContain(first.next.map((line) => `  ${line}`).join('\n'))
    for (const command of commands.slice(0, 2)) {
      const args = wordsOf(command.replace(/^.*?(?:paydirt|paydirt\.mjs) /, ''))
      const { status, stdout, stderr } = await paydirt(args, settings(at('play')))
      expect({ command, status, stderr }).toEqual({ command, status: 0, stderr: '' })
      if (args[0] === 'runs') for (const { runId } of first.runs) expect(stdout).toContain(runId)
      if (args[0] === 'history') expect(stdout).toContain(`, run ${first.runs[0]!.runId}`)
    }
    expect(commands[2]).toMatch(/ start$/)
    const { status, stdout } = await paydirt(['report'], settings(at('play')))
    expect(status).toBe(0)
    expect(stdout).toContain(`paid       ${first.paid} USD`)
  })

  test('leaves nothing anywhere else', () => {
    for (const name of ['.paydirt', '.env', 'demo-out']) expect(existsSync(at(name))).toBe(false)
  })

  test('pays nothing when it is run again, and is not led to another ledger by what is set in the shell', async () => {
    const shell = {
      DATABASE_URL: 'postgres://real.example.com/ledger',
      PAYDIRT_WALLET_KEY: `0x${'1'.repeat(64)}`,
      PAYDIRT_PORT: '8091',
    }
    const ended = await demo([...quick, '--out', 'play', '--json'], shell)
    expect({ status: ended.status, stderr: ended.stderr }).toMatchObject({ status: 0 })
    const { next, paid, agree } = ended.json<Demo>()
    expect(Number(first.paid)).toBeGreaterThan(0)
    expect({ paid, agree, commands: next.length }).toEqual({ paid: '0.000000', agree: true, commands: 4 })
    for (const command of next.slice(1))
      expect(command).toMatch(/^env -u PAYDIRT_WALLET_KEY -u DATABASE_URL (?:npx|node) /)
  })

  describe('and a sandbox in its folder', () => {
    let sandbox: Running
    let document: SandboxDocument
    let env: Settings['env']

    beforeAll(async () => {
      const args = ['sandbox', '--port', '0', '--rpc-port', '0', '--crm', 'hubspot', '--crm-port', '0']
      sandbox = startPaydirt([...args, '--json'], settings(at('play')))
      await sandbox.said(/commands do not find this sandbox: .*PAYDIRT_SERVICE_URL.*Ctrl-C ends it/)
      document = JSON.parse(sandbox.printed()) as SandboxDocument
      env = document.settings
    })
    afterAll(() => sandbox?.kill('SIGKILL'))

    test('have the settings of the folder, and its wallet without its key', () => {
      expect(document.added).toEqual([])
      expect(document.settings).not.toHaveProperty('PAYDIRT_WALLET_KEY')
      expect(document.wallet).toMatch(/^0x/)
      expect(document.pages).toEqual([
        { crm: 'hubspot', pageUrl: `${document.settings['HUBSPOT_BASE_URL']}/_sandbox/` },
      ])
    })

    test('go on with the records that the demo has written', async () => {
      const explained = await paydirt(['explain', ...historyArgs(first)], settings(at('play'), env))
      expect({ status: explained.status, stderr: explained.stderr }).toMatchObject({ status: 0 })
      expect(explained.stdout).toContain('Spent on this record so far: 0.010000 USD.')
    })

    test('end cleanly on Ctrl-C', async () => {
      sandbox.kill('SIGINT')
      expect(await sandbox.ended).toMatchObject({ status: 0, signal: null })
      await expect(fetch(env?.['PAYDIRT_RPC_URL'] ?? '')).rejects.toThrow('fetch failed')
    })
  })
})

interface SandboxDocument {
  settings: Record<string, string>
  wallet: string
  balance: string
  added: string[]
  pages: { crm: string; pageUrl: string }[]
}

function historyArgs({ next }: Demo): string[] {
  const command = next.find((line) => line.includes(' history ')) ?? ''
  return wordsOf(command.replace(/^.* history /, ''))
}

// Nine commands in processes of their own. Both CRMs share a folder: the pages are paid for once.
test.skipIf(!isFullSize).each([
  ['hubspot', '0.020000'],
  ['salesforce', '0.000000'],
])(
  'the demo of a list in %s goes from a preview to an undone list, and pays nothing the second time',
  { timeout: 600_000 },
  async (crm, price) => {
    const args = ['--crm', crm, '--list', '--limit', '30', '--out', 'both-lists', '--json']
    const first = await demo(args)
    expect(first).toMatchObject({ status: 0 })
    const { list, paid, agree, folder } = first.json<Demo & { list: { runId: string; commands: string[] } }>()
    expect({ paid, agree }).toEqual({ paid: price, agree: true })
    expect(list.commands.map((command) => command.split(' ').slice(0, 2).join(' '))).toEqual([
      `index ${crm}`,
      'lists preview',
      'lists fetch',
      'lists plan',
      expect.stringMatching(/^apply p/),
      'lists fetch',
      'lists plan',
      `undo ${list.runId}`,
      `undo ${list.runId}`,
    ])
    expect(first.stderr).toMatch(/[1-9]\d* records archived, 0 left in the CRM/)
    const lists = await paydirt(['lists'], settings(folder))
    expect(lists).toMatchObject({ status: 0 })
    expect(lists.stdout).toContain(`${crm}-fintechs`)
    expect((await demo(args)).json<Demo>()).toMatchObject({ paid: '0.000000', agree: true })
  },
)

interface ShownMonitor {
  monitor: string
  runId?: string
  detections: number
  commands: string[]
  crm: Record<'before' | 'made' | 'after', Record<string, number>> & { isAsBefore: boolean }
}

// Seven commands in processes of their own. Each CRM has its folder: a process reads a config file once, and several demos share one here.
test.skipIf(!isFullSize).each([
  ['hubspot', ['companies', 'contacts', 'tasks']],
  ['salesforce', ['Account', 'Contact', 'Task']],
] as const)(
  'the demo of a monitor in %s goes from its declaration to a CRM that is as before, and pays nothing the second time',
  { timeout: 600_000 },
  async (crm, [company, person, task]) => {
    const args = ['--crm', crm, '--monitor', '--out', `monitor-${crm}`, '--json']
    const first = await demo(args)
    expect({ status: first.status, stderr: first.stderr.slice(-600) }).toMatchObject({ status: 0 })
    const { monitor, paid, agree, folder } = first.json<Demo & { monitor: ShownMonitor }>()
    expect({ paid, agree }).toEqual({ paid: '0.320000', agree: true })
    const { before, made, after, isAsBefore } = monitor.crm
    expect(isAsBefore).toBe(true)
    expect(after).toEqual(before)
    expect(before).toMatchObject({ [company]: 500, [person]: 500, [task]: 0 })
    expect(made).toEqual({ ...before, [company]: 501, [person]: 502, [task]: 1 })
    expect(monitor.detections).toBeGreaterThan(0)
    expect(monitor.commands).toEqual([
      `index ${crm}`,
      'monitors plan',
      'monitors apply',
      'monitors deliveries',
      'spend --by list',
      `undo ${monitor.runId} --plan`,
      `undo ${monitor.runId}`,
    ])
    // The company belongs to the owner of the settings, and so do its people and the task.
    const owners = [...first.stderr.matchAll(/new in \w+: .*(?:hubspot_owner_id|OwnerId)=(\w+)/g)]
    expect(owners).toHaveLength(4)
    expect(new Set(owners.map(([, owner]) => owner)).size).toBe(1)

    const { stdout } = await paydirt(['monitors', 'deliveries', '--json'], settings(folder))
    const report = JSON.parse(stdout) as {
      monitors: { name: string; deliveries: { outcome: string; deliveries: number }[] }[]
    }
    const counts = report.monitors.find(({ name }) => name === monitor.monitor)?.deliveries
    const of = (outcome: string) => counts?.find((each) => each.outcome === outcome)?.deliveries
    expect([of('worked'), of('repeated')]).toEqual([monitor.detections, monitor.detections])

    const again = (await demo(args)).json<Demo & { monitor: ShownMonitor }>()
    expect(again).toMatchObject({ paid: '0.000000', agree: true, monitor: { crm: { isAsBefore: true } } })
    expect(again.monitor).not.toHaveProperty('runId')
    expect(again.monitor.crm.made).toEqual(before)
  },
)

test('the demo of a monitor has no list and no limit', async () => {
  for (const other of [['--list'], ['--limit', '3']]) {
    const ended = await demo(['--monitor', ...other, '--out', 'neither'])
    expect(ended).toMatchObject({ status: 2, stdout: '' })
    expect(ended.stderr).toContain('--monitor')
  }
  expect(existsSync(at('neither'))).toBe(false)
})

describe.skipIf(!isFullSize)('a folder that is not a demo’s', () => {
  test.each([
    ['with settings', '.env', 'PAYDIRT_SERVICE_URL=https://data.example.com\n'],
    ['with a config file', 'paydirt.config.ts', 'export default {}\n'],
    ['with a demo’s settings that now name a real service', '.env', ''],
  ])('%s is refused, and left as it is', async (name, file, text) => {
    const folder = name.replaceAll(/\W/g, '-')
    await mkdir(at(folder))
    const kept =
      text ||
      (await readFile(at('play', '.env'), 'utf8')).replace(
        'http://127.0.0.1:8402\n',
        'https://data.example.com\n',
      )
    await writeFile(at(folder, file), kept)
    for (const [out, cwd] of [
      [folder, home],
      ['.', at(folder)],
    ] as const) {
      const ended = await paydirt(['demo', '--out', out], settings(cwd))
      expect(ended).toMatchObject({ status: 2, stdout: '' })
      expect(ended.stderr).toContain(`${join(out, file)} is not this demo's`)
      expect(ended.stderr).toContain('--out')
    }
    expect(await readFile(at(folder, file), 'utf8')).toBe(kept)
    expect(existsSync(at(folder, '.paydirt'))).toBe(false)
  })

  test('with a ledger is refused too', async () => {
    await mkdir(at('with-ledger', '.paydirt'), { recursive: true })
    const ended = await demo(['--out', 'with-ledger'])
    expect(ended.status).toBe(2)
    expect(ended.stderr).toContain('never shares a folder with another ledger')
  })
})

test('a sandbox anywhere else prints a whole .env, and makes a lasting wallet of its own', async () => {
  const folder = at('empty')
  await mkdir(folder)
  const args = ['sandbox', '--crm', 'salesforce', '--records', '3', '--state', 'chain.json']
  const free = ['--port', '0', '--rpc-port', '0', '--crm-port', '0']
  const wallets: unknown[] = []
  for (const round of [1, 2]) {
    const sandbox = startPaydirt([...args, ...free], settings(folder))
    try {
      await sandbox.said(/Ctrl-C ends it/)
      await writeFile(join(folder, '.env'), sandbox.printed())
      wallets.push(/^PAYDIRT_WALLET_KEY=(0x[0-9a-f]{64})$/m.exec(sandbox.printed())?.[1])
      const { status, stdout } = await paydirt(['doctor'], settings(folder))
      expect({ round, status, stdout }).toMatchObject({ round, status: 0 })
      expect(stdout).toContain('holds 10.000000 USDC')
      expect(stdout).toMatch(/ok +salesforce +account/)
      const key = /PAYDIRT_API_KEY=(\S+)/.exec(sandbox.printed())?.[1]
      const usage = await paydirt(
        ['service', 'call', 'account.usage'],
        settings(folder, { PAYDIRT_API_KEY: key }),
      )
      expect(usage).toMatchObject({ status: 0 })
    } finally {
      sandbox.kill('SIGINT')
      expect(await sandbox.ended).toMatchObject({ status: 0 })
    }
  }
  expect(wallets[0]).toMatch(/^0x/)
  expect(wallets[1]).toBe(wallets[0])
})
