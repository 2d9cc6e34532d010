import { stat, writeFile } from 'node:fs/promises'
import { createConnection, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { resolveConfig, type Config } from '../../src/app/config/config.ts'
import { readEnvironment } from '../../src/app/config/environment.ts'
import { fileSchema } from '../../src/app/config/file.ts'
import { version } from '../../src/app/config/version.ts'
import { createContext } from '../../src/app/context/context.ts'
import { askHolder, greetHolder } from '../../src/app/queries/ask-holder.ts'
import { queryLedger } from '../../src/app/queries/query-ledger.ts'
import { serveQueries } from '../../src/app/queries/serve-queries.ts'
import { startHubspotStandIn, type HubspotStandIn } from '../../src/sandbox/hubspot/index.ts'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { lockDataDir } from '../../src/store/data-dir/data-dir-lock.ts'
import { openDesk, type Desk, type Ended, type Running } from '../support/cli.ts'
import { isFullSize } from '../support/full-size.ts'
import { testSeed } from '../support/seed.ts'

/** The embedded ledger, whatever stores the other tests use: only that has a holder. */
const embedded = { DATABASE_URL: undefined, REDIS_URL: undefined, PAYDIRT_PORT: '0' }
const quick = { hubspot: { tenSecondLimit: 100_000, searchLimit: 100_000 } }
const profile = 'https://www.profnet.com/company/asked-beside'

let sandbox: Sandbox
let hubspot: HubspotStandIn
let desk: Desk
let record: string
let run: string

const env = () => ({ ...embedded, HUBSPOT_BASE_URL: hubspot.baseUrl, HUBSPOT_ACCESS_TOKEN: hubspot.token })
const paydirt = (...args: string[]) => desk.run(args, env())
const dataDir = () => join(desk.stores.dataDir, 'data')
const socket = () => join(dataDir(), 'queries.sock')

beforeAll(async () => {
  sandbox = await startSandbox()
  const limits = { searchPerSecond: 100_000, perTenSeconds: 100_000 }
  hubspot = await startHubspotStandIn({ seed: testSeed(), companies: 0, contacts: 0, limits })
  desk = await openDesk(sandbox, { config: { connectors: quick } })
  record = hubspot.store.add('companies', { properties: { name: 'Acme', profnet_url: profile } }).id
  run = (await paydirt('sync', 'hubspot', '--object', 'company', '--json')).json<{ runId: string }>().runId
})
afterAll(async () => {
  await desk.close()
  await hubspot.stop()
  await sandbox.stop()
})

/** Starts the service on this ledger, as a process of its own. */
async function service(): Promise<{ started: Running; url: string }> {
  const started = desk.start(['start'], env())
  onTestFinished(async () => {
    started.kill('SIGKILL')
    await started.ended
  })
  const [, url = ''] = await started.said(/^web: (\S+)/m)
  return { started, url }
}

/** Each query once, as text or as JSON. */
const reads = (): string[][] => [
  ['runs'],
  ['runs', run],
  ['history', `hubspot:company:${record}`, '--json'],
  ['explain', `hubspot:company:${record}`],
  ['spend', '--by', 'field', '--json'],
  ['report', run],
  ['undo', run, '--plan'],
  ['forget', '--profile-url', profile, '--plan', '--json'],
  ['schedules', '--json'],
  ['suppress', 'list', '--json'],
  ['token', 'list'],
  ['options', 'hubspot', '--json'],
  ['service', 'list'],
  ['service', 'show', 'job.search', '--json'],
  ['service', 'verify', '--json'],
  ['service', 'actions'],
  ['service', 'call', 'job.search', '--json', '{"domains":["acme.example"]}', '--pages', '2', '--plan'],
  // Errors too.
  ['history', 'hubspot:company:1'],
]
const seen = ({ status, stdout, stderr }: Ended) => ({ status, stdout, stderr })

// At full size only: services are started and killed.
describe.skipIf(!isFullSize)('beside a process that holds the embedded ledger', () => {
  test('commands that read print what they print alone, and others name what to do instead', async () => {
    expect(companyAnswer(profile).data).toBeTruthy()
    const alone = new Map<string, ReturnType<typeof seen>>()
    for (const args of reads()) alone.set(args.join(' '), seen(await paydirt(...args)))
    expect(alone.get('runs')?.stdout).toContain(run)
    const { started, url } = await service()

    for (const args of reads())
      expect([args, seen(await paydirt(...args))]).toEqual([args, alone.get(args.join(' '))])
    const { mode } = await stat(socket())
    expect((mode & 0o777).toString(8)).toBe('600')

    const reconciled = await paydirt('reconcile', '--json')
    expect(reconciled).toMatchObject({ status: 0, stderr: expect.stringContaining('this only compares') })
    expect(reconciled.json()).toMatchObject({
      wallet: desk.wallet,
      chain: { transfers: 1 },
      differences: [],
      agrees: true,
    })

    const inUse = (args: string[]) => paydirt(...args)
    for (const [args, instead] of [
      [['sync', 'hubspot'], `Its desk does the same: ${url}/ starts a sync`],
      [['service', 'retry', 'job.search'], `${url}/contract lets a stopped operation be asked again`],
      [['undo', run], `${url}/runs/${run}/undo shows the plan of the undo`],
      [['schedules', 'pause', 'nightly'], `${url}/settings pauses`],
      [['suppress', 'add', '--email', 'a@example.com'], 'stop that process, run this, and start it again'],
      [['forget', '--email', 'a@example.com', '--yes'], '`paydirt forget` writes into the ledger'],
    ] as const)
      expect([args, await inUse([...args])]).toMatchObject([
        args,
        { status: 2, stdout: '', stderr: expect.stringContaining(instead) },
      ])

    expect(await paydirt('spend', '--stop')).toMatchObject({ status: 0 })
    expect((await paydirt('spend')).stdout).toMatch(
      /^SPENDING IS STOPPED since 20\S+ \S+ UTC by cli \(paydirt spend --stop\); `paydirt spend --resume`/,
    )
    expect(await paydirt('spend', '--stop', 'a wrong list')).toMatchObject({ status: 0 })
    const reason = 'a wrong list'
    expect((await paydirt('spend', '--json')).json()).toMatchObject({
      stopped: true,
      stop: { by: 'cli', reason },
    })
    const stopped = await paydirt('doctor', '--json')
    const { findings } = stopped.json<{
      findings: { name: string; status: string; message: string; todo?: string }[]
    }>()
    expect(findings.find(({ name }) => name === 'database')?.message).toContain(
      `in use by process ${started.pid}, which answers`,
    )
    expect(findings.find(({ name }) => name === 'spending')).toMatchObject({
      status: 'warning',
      message: expect.stringMatching(
        /^stopped since 20\S+ \S+ UTC, by the command line: a wrong list\. Nothing is bought$/,
      ),
      todo: expect.stringContaining('`paydirt spend --resume`'),
    })
    expect(await paydirt('spend', '--resume')).toMatchObject({ status: 0 })
    expect((await paydirt('doctor')).stdout).toMatch(/^ok +spending +not stopped$/m)
  })

  test('a killed one leaves a socket that nobody minds, and one that ends properly leaves none', async () => {
    const { started } = await service()
    started.kill('SIGKILL')
    await started.ended
    expect((await stat(socket())).isSocket()).toBe(true)
    expect((await paydirt('runs')).stdout).toContain(run)
    await expect(stat(socket())).rejects.toMatchObject({ code: 'ENOENT' })

    const next = await service()
    expect((await paydirt('runs')).stdout).toContain(run)
    next.started.kill('SIGTERM')
    expect(await next.started.ended).toMatchObject({ status: 0 })
    await expect(stat(socket())).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('one that is suspended is named as such', async () => {
    const { started } = await service()
    started.kill('SIGSTOP')
    expect(await paydirt('runs')).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/\(\d+ on .*It does not answer questions: it may be suspended/),
    })
    started.kill('SIGCONT')
    expect(await paydirt('runs')).toMatchObject({ status: 0 })
  })
})

/** The settings of the commands above. */
function config(): Config {
  const environment = readEnvironment({
    PAYDIRT_DATA_DIR: dataDir(),
    PAYDIRT_LOG_LEVEL: 'silent',
    PAYDIRT_WALLET_KEY: desk.walletKey,
  })
  return resolveConfig(environment, fileSchema.parse({}))
}

describe('a query', () => {
  test('is answered though many ask at once, and no one has the ledger for long', async () => {
    const answers = await Promise.all(
      // However slow this machine is now.
      Array.from({ length: 8 }, () => queryLedger(config(), 'runs', { limit: 20 }, { patienceMs: 60_000 })),
    )
    for (const answer of answers) expect(answer).toEqual(answers[0])
    expect(answers[0]).toMatchObject([{ runId: run, startedAt: expect.any(Date) }])
  })

  test('is served though an earlier holder was killed while it made its socket', async () => {
    await writeFile(`${socket()}.new`, '')
    const context = await createContext(config())
    const served = await serveQueries(context)
    onTestFinished(async () => {
      await served.stop()
      await context.close()
    })
    expect(await askHolder(dataDir(), 'runs', { limit: 1 })).toMatchObject({ kind: 'answered' })
    await expect(askHolder(dataDir(), 'run', { id: 'none' })).rejects.toMatchObject({
      name: 'ConfigError',
      code: 'no_such_run',
    })
    // The list is closed, and so is each input.
    await expect(askHolder(dataDir(), 'constructor', {})).rejects.toMatchObject({ code: 'no_such_query' })
    await expect(askHolder(dataDir(), 'runs', { limit: '1; drop table' })).rejects.toMatchObject({
      code: 'query_failed',
    })
    // A caller that only looks, or sends too much, is no trouble.
    const large = createConnection(socket())
    large.on('error', () => {})
    large.write(Buffer.alloc(2_000_000, 'x'))
    await new Promise((resolve) => large.once('close', resolve))
    expect(await greetHolder(dataDir())).toMatchObject({ pid: process.pid, version })
  })

  test('to a version without a socket ends with the error of the lock', async () => {
    const lock = await lockDataDir(dataDir())
    try {
      await expect(queryLedger(config(), 'runs', { limit: 20 }, { patienceMs: 300 })).rejects.toMatchObject({
        code: 'data_dir_in_use',
        message: expect.stringContaining('its version has no socket for them'),
      })
    } finally {
      await lock.release()
    }
  })

  /** A holder that says these bytes to whoever connects, and more to whoever asks. */
  async function holderThatSays(greeting: string, answer: Buffer) {
    const server = createServer((caller) => {
      caller.on('error', () => {})
      caller.write(greeting)
      caller.once('data', () => caller.end(answer))
    })
    await new Promise<void>((resolve) => server.listen(socket(), resolve))
    onTestFinished(() => void server.close())
  }
  const greeting = (of: string) => `${JSON.stringify({ version: of, pid: 1 })}\n`

  test('whose answer is cut off counts as not answered', async () => {
    await holderThatSays(greeting(version), Buffer.from([0xff, 0x0f, 0x6f, 0x22]))
    expect(await askHolder(dataDir(), 'runs', { limit: 1 })).toEqual({ kind: 'away' })
  })

  test('is not sent to another version', async () => {
    await holderThatSays(greeting('0.0.1'), Buffer.alloc(0))
    expect(await askHolder(dataDir(), 'runs', { limit: 1 })).toEqual({
      kind: 'other_version',
      version: '0.0.1',
    })
  })

  test('finds nobody where the path is too long for a socket', async () => {
    expect(await askHolder(`/tmp/${'x'.repeat(100)}`, 'runs', { limit: 1 })).toEqual({ kind: 'away' })
  })
})
