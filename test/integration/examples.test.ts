import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { API_KEY } from '../../src/sandbox/accounts.ts'
import { startHubspotStandIn } from '../../src/sandbox/hubspot/index.ts'
import { startSalesforceStandIn } from '../../src/sandbox/salesforce/index.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk, paydirt, type Desk, type Ended } from '../support/cli.ts'
import { collectExamples, hintsIn, refusalOf, wordsOf, type Example } from '../support/examples.ts'
import { isFullSize } from '../support/full-size.ts'
import { testSeed } from '../support/seed.ts'

/** Those of the tour belong together: tour.test.ts runs them one after the other. */
const examples = collectExamples().filter(({ from }) => from !== 'docs/tour.md')

/** They go on until they are stopped, or read from a terminal. Tests of their own run them; here their words are checked. */
// A restore needs an empty database: restore.test.ts runs it.
const notRunHere = /^(start|sandbox|demo|password|restore|init$)/

let sandbox: Sandbox
let hubspot: Awaited<ReturnType<typeof startHubspotStandIn>>
let salesforce: Awaited<ReturnType<typeof startSalesforceStandIn>>
let desk: Desk
/** The records and ids that stand in an example, and those that are there. */
let standsFor: [RegExp, () => string | undefined][]
let lastRun: string | undefined
let lastToken: string | undefined
let hook: Server
let lastMonitor: string | undefined
let waitingRow: string | undefined

beforeAll(async () => {
  sandbox = await startSandbox()
  const limits = { searchPerSecond: 100_000, perTenSeconds: 100_000 }
  hubspot = await startHubspotStandIn({ seed: testSeed(), companies: 3, contacts: 3, limits })
  salesforce = await startSalesforceStandIn({ seed: testSeed(), accounts: 2, contacts: 2, leads: 2 })
  hook = createServer((_, answer) => void answer.end('taken'))
  hook.listen(0, '127.0.0.1')
  await once(hook, 'listening')
  const hookUrl = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/`
  desk = await openDesk(sandbox, {
    config: {
      payment: {
        maxPricesUsd: {
          'contact.redeem:email-work': '0.15',
          'contact.redeem:phone': '0.30',
          'company.search': '0.05',
          'job.search': '0.05',
          'monitor.list': '0.05',
          'monitor.read': '0.05',
          'monitor.create': '0.05',
          'monitor.update': '0.05',
          'monitor.delete': '0.05',
          'monitor.statistics': '0.05',
          'monitor.charts': '0.05',
          'monitor.logs': '0.05',
          'monitor.test': '0.05',
          'monitor.interpret': '0.05',
          'monitor.validate': '0.05',
          'template.types': '0.05',
          'template.create': '0.05',
          'template.delete': '0.05',
        },
      },
      lists: {
        fintechs: {
          search: 'company.search',
          filters: { countries: ['DE'] },
          into: { connector: 'hubspot', entity: 'companies' },
          limit: 25,
        },
      },
      signals: { pipeline: { accounts: { connector: 'hubspot' }, types: ['job'], budgetUsd: '5' } },
      champions: { customers: { connector: 'hubspot', limit: 2, budgetUsd: '2' } },
      monitors: {
        dach: {
          detection_mode: 'signal_first',
          signal_types: ['expansions'],
          filters: { tos: ['DE'] },
          channel: { webhook_url: hookUrl },
        },
      },
      connectors: { hubspot: { tenSecondLimit: 100_000, searchLimit: 100_000 } },
      schedules: { nightly: { connector: 'hubspot', cron: '0 2 * * *' } },
    },
  })
  const [companies, contacts, leads] = [
    [...hubspot.store.list('companies')].map(({ id }) => id),
    [...hubspot.store.list('contacts')].map(({ id }) => id),
    [...salesforce.store.list('Lead')].map(({ id }) => id),
  ]
  standsFor = [
    [/\b9999600\b/g, () => companies[0]],
    [/\b9999601\b/g, () => companies[1]],
    [/(?<=hubspot:compan(?:y|ies):)123\b/g, () => companies[0]],
    [/(?<=hubspot:contacts?:)123\b/g, () => contacts[0]],
    [/\b00Q000000000001AAA\b/g, () => leads[0]],
    [/\bRUN\b|\br[0-9a-z]{14}\b/g, () => lastRun],
    [/\bTOKEN\b/g, () => lastToken],
    [/\b3f9a01c2d4e5\b/g, () => waitingRow],
    [/\bmon_123\b/g, () => lastMonitor],
    [/^UUID$/g, () => '5b0c7a52-6f0e-4a8e-9d6c-0f5a3f1c1a04'],
    [/https:\/\/hooks\.acme\.example\/monitor/g, () => hookUrl],
    [/(?<=^companies:)1001\b/g, () => companies[0]],
  ]
})
afterAll(async () => {
  hook?.close()
  await desk.close()
  await Promise.all([sandbox.stop(), hubspot.stop(), salesforce.stop()])
})

test.skipIf(!isFullSize)('examples are found in README, in pages and in help texts', () => {
  const from = new Set(examples.map((example) => example.from))
  for (const each of ['README.md', 'docs/operations.md', 'docs/recipes.md', 'paydirt sync --help'])
    expect(from).toContain(each)
  expect(wordsOf(`sync salesforce --filter 'Status=In progress' | head # not all`)).toEqual([
    'sync',
    'salesforce',
    '--filter',
    'Status=In progress',
  ])
})

// In `npm run check` and at full size.
describe.skipIf(!isFullSize)('an example does what it says:', () => {
  test.each(examples.map((example): [string, string, Example] => [example.line, example.from, example]))(
    '%s (%s)',
    async (_line, _from, { args }) => {
      expect(await refusalOf(args)).toBeUndefined()
      if (notRunHere.test(args.join(' '))) return
      const { status, stdout, stderr } = await run(args)
      expect({ status, stderr }).toEqual({ status: 0, stderr: expect.anything() as string })
      lastRun = /^run (\S+):/m.exec(stdout)?.[1] ?? lastRun
      lastToken = /^token (\S+) /m.exec(stderr)?.[1] ?? lastToken
      for (const hint of hintsIn(stdout + stderr)) {
        expect(await refusalOf(wordsOf(hint)), `the hint \`paydirt ${hint}\``).toBeUndefined()
      }
    },
  )

  test('and so does the hint under a plan', async () => {
    await desk.write('hint.csv', sampleOf('company', []))
    const { stdout } = await run(['csv', 'hint.csv', '--object', 'company', '--plan'])
    const hint = hintsIn(stdout).find((each) => each.startsWith('apply '))
    expect(hint).toBeDefined()
    const applied = await runIn(wordsOf(hint!))
    expect({ status: applied.status, stderr: applied.stderr }).toMatchObject({ status: 0 })
  })
})

/** Runs an example with the ids of this account, the files that it names, and nothing asked. */
async function run(example: readonly string[]): Promise<Ended> {
  const [command, ...rest] = example
  // The plan of an example is nobody's: a plan of the same kind is made for it.
  if (command === 'apply') return runIn([command, await freshPlan(rest.includes('--out')), ...rest.slice(1)])
  if (command === 'lists' && rest[0] === 'review') waitingRow ??= await makeRowWait()
  if (command === 'monitors') lastMonitor = await applied()
  if (command === 'signals' && rest[0] === 'explain') await runIn(['signals', 'run', 'pipeline'])
  const args = example.map((word) =>
    standsFor.reduce((text, [pattern, there]) => text.replaceAll(pattern, (found) => there() ?? found), word),
  )
  await layFiles(args)
  // An example that stops spending must not stop those that come after it.
  const ended = await runIn(args)
  if (args.includes('--stop')) await runIn(['spend', '--resume'])
  return ended
}

/** Returns the key of a row that has the name of a record. */
async function makeRowWait(): Promise<string> {
  await runIn(['lists', 'fetch', 'fintechs', '--budget', '1'])
  const [row] = JSON.parse((await runIn(['lists', 'members', 'fintechs', '--json'])).stdout)
  hubspot.store.add('companies', { properties: { name: row.values.company_name } })
  await runIn(['index', 'hubspot', '--rebuild'])
  const { waiting } = JSON.parse((await runIn(['lists', 'review', 'fintechs', '--json'])).stdout)
  return waiting[0].key
}

/** An example may have deleted the monitor before. Returns its id. */
async function applied(): Promise<string> {
  const { stdout } = await runIn(['monitors', 'apply', '--json'])
  if (stdout === '') throw new Error(JSON.stringify(await runIn(['monitors', 'apply', '--json'])))
  return JSON.parse(stdout).applied[0].id
}

async function runIn(args: readonly string[]): Promise<Ended> {
  if (args[0] !== 'init') return desk.run(args, { ...crms(), ...keyOf(args) })
  // It would find the settings of the others.
  const folder = await mkdtemp(join(desk.stores.dataDir, 'init-'))
  return paydirt(args, { stores: desk.stores, cwd: folder, env: { ...crms(), PAYDIRT_DATA_DIR: folder } })
}

/** Monitors, templates and the account belong to a workspace: their examples are called with its key. */
const keyOf = (args: readonly string[]) =>
  args[0] === 'monitors' || (args[0] === 'service' && /^(monitor|template|account)\./.test(args[2] ?? ''))
    ? { PAYDIRT_API_KEY: API_KEY, PAYDIRT_WALLET_KEY: undefined }
    : {}

const crms = () => ({
  HUBSPOT_BASE_URL: hubspot.baseUrl,
  HUBSPOT_ACCESS_TOKEN: hubspot.token,
  SALESFORCE_LOGIN_URL: salesforce.baseUrl,
  SALESFORCE_CLIENT_ID: salesforce.auth.clientId,
  SALESFORCE_CLIENT_SECRET: salesforce.auth.clientSecret,
})

async function freshPlan(ofFile: boolean): Promise<string> {
  await desk.write('planned.csv', sampleOf('company', []))
  const planned = ofFile
    ? ['csv', 'planned.csv', '--object', 'company']
    : ['sync', 'hubspot', '--object', 'company']
  const { stdout } = await runIn([...planned, '--plan', '--json'])
  return (JSON.parse(stdout) as { planId: string }).planId
}

/** The requests of calls that an example has in a file. */
const requests: Readonly<Record<string, object>> = {
  'welcome.json': { message: 'Welcome' },
  'search.json': { domains: ['acme.example'] },
  'monitor.json': { name: 'France', detection_mode: 'signal_first', signal_types: ['expansions'] },
}

/** Writes the input files that an example names, with the columns that its `--map` speaks of. */
async function layFiles(args: readonly string[]): Promise<void> {
  const [command, input] = args
  if (command === 'suppress' && args[2]?.endsWith('.csv'))
    await desk.write(args[2], 'email\nbob@example.com\n')
  for (const name of args.flatMap((arg) => /^@(.+\.json)$/.exec(arg)?.[1] ?? []))
    await desk.write(name, JSON.stringify(requests[name] ?? {}))
  if (command !== 'csv' || input === undefined || existsSync(desk.at(input))) return
  const map = args[args.indexOf('--map') + 1]
  const columns = args.includes('--map') ? (map ?? '').split(',').map((pair) => pair.split('=')) : []
  await mkdir(join(desk.at(input), '..'), { recursive: true })
  await writeFile(desk.at(input), sampleOf(args[args.indexOf('--object') + 1] ?? 'company', columns))
}

function sampleOf(object: string, columns: readonly string[][]): string {
  const isCompany = object.startsWith('compan')
  const values: Record<string, string> = {
    profile: `https://www.profnet.com/${isCompany ? 'company' : 'in'}/ada-example`,
    email: 'ada@example.com',
    domain: 'example.com',
    first_name: 'Ada',
    last_name: 'Example',
    company: 'Example',
  }
  const plain = isCompany
    ? [
        ['profile', 'profnet_url'],
        ['domain', 'domain'],
      ]
    : [
        ['profile', 'profnet_url'],
        ['email', 'email'],
      ]
  const wanted = columns.length > 0 ? columns : plain
  return `${wanted.map(([, name]) => name).join(',')}\n${wanted.map(([field = '']) => values[field] ?? '').join(',')}\n`
}
