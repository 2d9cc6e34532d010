import { parseEnv } from 'node:util'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startHubspotStandIn } from '../../src/sandbox/hubspot/index.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { runInProcess } from '../support/run-in-process.ts'
import { testSeed } from '../support/seed.ts'

const key = `0x${'11'.repeat(32)}`
const address = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A'

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'paydirt-init-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Runs in a folder of its own, with nothing of this process's own settings. */
function run(folder: string, args: readonly string[], env: Record<string, string> = {}) {
  return runInProcess(args, { cwd: folder, env: { PATH: process.env['PATH'], HOME: folder, ...env } })
}

const envOf = (folder: string) => readFileSync(join(folder, '.env'), 'utf8')

describe('paydirt init --yes', () => {
  test('writes what it is given, and says what is missing and what comes next', async () => {
    const folder = await emptyFolder()
    const args = ['init', '--yes', '--service-url', 'https://data.example.com', '--crm', 'hubspot,salesforce']
    const secret = "pat-'x' #1"
    const urls = ['--logo-url', 'https://logo.example.com', '--hubspot-url', 'https://api-eu1.hubapi.com']
    const { status, stdout, stderr } = await run(folder, [...args, '--budget-run', '20', ...urls], {
      PAYDIRT_WALLET_KEY: key,
      HUBSPOT_ACCESS_TOKEN: secret,
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toContain(`wallet ${address}\n`)
    expect(stdout).toContain(
      'still to be written into .env: SALESFORCE_LOGIN_URL, SALESFORCE_CLIENT_ID, SALESFORCE_CLIENT_SECRET',
    )
    expect(stdout).toMatch(/next: node .*bin\/paydirt\.mjs doctor\n$/)
    expect(stdout).not.toContain(secret)
    expect(envOf(folder)).toContain(`HUBSPOT_ACCESS_TOKEN="${secret}"`)
    expect(envOf(folder)).toContain('\nPAYDIRT_BUDGET_RUN_USD=20\n')
    expect(envOf(folder)).toContain('\nPAYDIRT_LOGO_URL=https://logo.example.com\n')
    expect(envOf(folder)).toContain('\nHUBSPOT_BASE_URL=https://api-eu1.hubapi.com\n')
    expect(statSync(join(folder, '.env')).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder).sort()).toEqual(['.env', 'paydirt.config.ts'])
  })

  test('takes every variable that the stand-ins tell to set', async () => {
    const folder = await emptyFolder()
    // As `paydirt sandbox --crm salesforce` prints them.
    const told = {
      PAYDIRT_SERVICE_URL: 'http://127.0.0.1:8402',
      PAYDIRT_RPC_URL: 'http://127.0.0.1:8545',
      PAYDIRT_LOGO_URL: 'http://127.0.0.1:8402/logos',
      PAYDIRT_WALLET_KEY: key,
      PAYDIRT_SALESFORCE_SECRET: 'a secret of buttons',
      SALESFORCE_LOGIN_URL: 'http://127.0.0.1:8404',
      SALESFORCE_CLIENT_ID: 'id',
      SALESFORCE_CLIENT_SECRET: 'secret',
    }
    const { status } = await run(folder, ['init', '--yes', '--crm', 'salesforce'], told)
    expect(status).toBe(0)
    const written = parseEnv(envOf(folder))
    expect(written).toMatchObject(told)
  })

  test('makes a wallet where there is none, and keeps it', async () => {
    const folder = await emptyFolder()
    const args = ['init', '--yes', '--json', '--service-url', 'https://data.example.com']
    const first = (await run(folder, args)).json<{ wallet: { address: string; isNew: boolean } }>()
    expect(first.wallet.isNew).toBe(true)
    expect(statSync(join(folder, '.paydirt/wallet.key')).mode & 0o777).toBe(0o600)
    const second = (await run(folder, [...args, '--force'])).json<typeof first>()
    expect(second.wallet).toMatchObject({ address: first.wallet.address, isNew: false })
  })

  test('overwrites nothing without --force, and then keeps a copy and what else was set', async () => {
    const folder = await emptyFolder()
    const old = `PAYDIRT_WALLET_KEY=${key}\nPAYDIRT_BUDGET_DAY_USD=7\nPAYDIRT_LOG_LEVEL=info\nOTHER='a b'\n`
    await writeFile(join(folder, '.env'), old, { mode: 0o644 })
    await writeFile(join(folder, 'paydirt.config.mjs'), 'export default {}\n')
    const args = ['init', '--yes', '--service-url', 'https://data.example.com']
    const refused = await run(folder, args)
    expect(refused.status).toBe(2)
    expect(refused.stderr).toContain('.env and paydirt.config.mjs are there already; nothing was written')
    expect(envOf(folder)).toBe(old)
    expect(readdirSync(folder).sort()).toEqual(['.env', 'paydirt.config.mjs'])

    const forced = await run(folder, [...args, '--force', '--json'])
    expect(forced.status).toBe(0)
    const { movedTo } = forced.json<{ movedTo: string[] }>()
    expect(movedTo).toHaveLength(2)
    expect(readFileSync(movedTo[0]!, 'utf8')).toBe(old)
    // It may hold the only copy of a key, and was open to others before.
    expect(statSync(movedTo[0]!).mode & 0o777).toBe(0o600)
    for (const line of [
      `PAYDIRT_WALLET_KEY=${key}`,
      'PAYDIRT_BUDGET_DAY_USD=7',
      'PAYDIRT_LOG_LEVEL=info',
      "OTHER='a b'",
    ])
      expect(envOf(folder).split('\n')).toContain(line)
    // The .ts file is read before it: the old one must not stay under its name.
    expect(readdirSync(folder)).not.toContain('paydirt.config.mjs')
  })

  test.each([
    [['--service-url', 'http://data.example.com'], 'must be https'],
    [['--budget-run', 'lots'], 'is not an amount in USD'],
    [['--crm', 'abacus'], 'abacus is none of hubspot, salesforce, none'],
    [['--pay', 'cash'], 'Allowed choices are wallet, api-key'],
  ])('refuses %j and writes nothing', async (args, message) => {
    const folder = await emptyFolder()
    const { status, stderr } = await run(folder, ['init', '--yes', ...args])
    expect(status).toBe(2)
    expect(stderr).toContain(message)
    expect(readdirSync(folder)).toEqual([])
  })

  test('refuses a variable that is not valid, by its name alone', async () => {
    const folder = await emptyFolder()
    const { status, stderr } = await run(folder, ['init', '--yes'], { PAYDIRT_WALLET_KEY: '0xsecret' })
    expect(status).toBe(2)
    expect(stderr).toMatch(/PAYDIRT_WALLET_KEY is not a private key/)
    expect(stderr).not.toContain('0xsecret')
    expect(readdirSync(folder)).toEqual([])
  })

  test('says what would keep the file from counting, or would give it away', async () => {
    const folder = await emptyFolder()
    spawnSync('git', ['init', '-q', folder])
    const args = ['init', '--yes', '--pay', 'wallet', '--budget-run', '20']
    const { stderr } = await run(folder, args, {
      PAYDIRT_BUDGET_RUN_USD: '50',
      PAYDIRT_API_KEY: 'k',
      PAYDIRT_WALLET_KEY: key,
    })
    expect(stderr).toContain('PAYDIRT_BUDGET_RUN_USD is set in your shell to another value, which wins')
    expect(stderr).toContain('PAYDIRT_API_KEY is set in your shell, and a key goes before the wallet')
    expect(stderr).toContain('git does not ignore .env')
    expect(envOf(folder)).not.toContain('PAYDIRT_API_KEY=')
  })

  test('without --yes and without a terminal asks for --yes', async () => {
    const { status, stderr } = await run(await emptyFolder(), ['init'])
    expect(status).toBe(2)
    expect(stderr).toContain('there is no terminal to ask on: add --yes')
  })
})

describe('from init to an undone run', () => {
  let sandbox: Sandbox
  let hubspot: Awaited<ReturnType<typeof startHubspotStandIn>>
  beforeAll(async () => {
    sandbox = await startSandbox()
    const limits = { searchPerSecond: 100_000, perTenSeconds: 100_000 }
    hubspot = await startHubspotStandIn({ seed: testSeed(), companies: 6, contacts: 0, limits })
  })
  afterAll(async () => {
    await hubspot.stop()
    await sandbox.stop()
  })

  test('takes five commands, all by what init wrote', async () => {
    const folder = join(await emptyFolder(), 'my crm')
    await mkdir(folder)
    const made = await run(
      folder,
      [
        'init',
        '--yes',
        '--json',
        '--crm',
        'hubspot',
        '--rpc-url',
        sandbox.rpcUrl,
        '--service-url',
        sandbox.serviceUrl,
      ],
      {
        HUBSPOT_ACCESS_TOKEN: hubspot.token,
        HUBSPOT_BASE_URL: hubspot.baseUrl,
        PAYDIRT_LOGO_URL: sandbox.logoUrl,
      },
    )
    const { wallet, missing } = made.json<{ wallet: { address: string }; missing: string[] }>()
    expect(missing).toEqual([])
    await sandbox.fund(wallet.address as `0x${string}`, 1_000_000n)

    const doctor = await run(folder, ['doctor'])
    expect(doctor.stdout).not.toContain('PROBLEM')
    expect(doctor.status).toBe(0)
    const plan = await run(folder, ['sync', 'hubspot', '--object', 'companies', '--plan'])
    expect({ status: plan.status, stderr: plan.stderr }).toMatchObject({ status: 0 })
    const sync = await run(folder, ['sync', 'hubspot', '--object', 'company', '--json'])
    expect(sync.status).toBe(0)
    const { runId, tasks } = sync.json<{ runId: string; tasks: { written: number } }>()
    expect(tasks.written).toBeGreaterThan(0)
    const undone = await run(folder, ['undo', runId, '--json'])
    expect(undone.json()).toMatchObject({ left: 0 })
    expect(undone.json<{ restored: number }>().restored).toBeGreaterThan(0)
  })
})
