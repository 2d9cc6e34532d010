import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, request as forward } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { mkdir, writeFile } from 'node:fs/promises'
import { privateKeyToAccount } from 'viem/accounts'
import { resolveConfig } from '../src/app/config/config.ts'
import { readEnvironment } from '../src/app/config/environment.ts'
import { createContext } from '../src/app/context/context.ts'
import { startSandbox } from '../src/sandbox/sandbox.ts'
import { createIndexStates } from '../src/store/identities/index-state.ts'
import type { BenchOptions } from './options.ts'
import { openStores, storesOf, walletKey, type Stores } from './setup.ts'
import { median, printTable, round } from './table.ts'

interface Row {
  stores: string
  companies: number
  contacts: number
  previews: number
  'whole command': number
  'the service': number
  'beyond it': number
  'most beyond it': number
  'processor time': number
  goal: number
}

const main = join(import.meta.dirname, '../src/cli/main.ts')
/** On a machine with other work the processor time says more than the clock. */
const tellsCpu = `data:text/javascript,${encodeURIComponent(
  "process.on('exit', () => { const { user, system } = process.cpuUsage(); process.stderr.write(`\\nprocessor ${Math.round((user + system) / 1000)}\\n`) })",
)}`
const countries = ['DE', 'US', 'FR', 'GB', 'JP']

/**
 * Measures `paydirt lists preview` from the start of its process to its end, against an index of 20,000 companies and 40,000 contacts,
 * beside the time that the service took for its answers. Each preview buys page 1 of another list.
 */
export async function listPreview(options: BenchOptions): Promise<Row[]> {
  const companies = options.sizes?.[0] ?? (options.quick ? 200 : 20_000)
  const previews = options.quick
    ? 1
    : options.repeat > 1
      ? Math.min(options.repeat, countries.length)
      : countries.length
  const rows: Row[] = []
  const sandbox = await startSandbox()
  const edge = await timed(sandbox.serviceUrl)
  await sandbox.fund(privateKeyToAccount(walletKey).address, 5_000_000n)
  try {
    for (const kind of storesOf(options)) {
      const stores = await openStores(kind)
      if (!stores) continue
      try {
        const env = {
          ...stores.env,
          PAYDIRT_SERVICE_URL: edge.url,
          PAYDIRT_RPC_URL: sandbox.rpcUrl,
          PAYDIRT_WALLET_KEY: walletKey,
          HUBSPOT_ACCESS_TOKEN: 'none: a preview does not ask the CRM',
        }
        await fillIndex(env, companies)
        const times = []
        for (let at = 0; at < previews; at += 1) times.push(await preview(stores, env, `list${at}`, edge))
        const beyond = times.map(({ wholeMs, serviceMs }) => wholeMs - serviceMs)
        rows.push({
          stores: kind === 'embedded' ? 'PGlite' : 'Postgres',
          companies,
          contacts: 2 * companies,
          previews,
          'whole command': round(median(times.map(({ wholeMs }) => wholeMs)), 0),
          'the service': round(median(times.map(({ serviceMs }) => serviceMs)), 0),
          'beyond it': round(median(beyond), 0),
          'most beyond it': round(Math.max(...beyond), 0),
          'processor time': round(median(times.map(({ processorMs }) => processorMs)), 0),
          goal: 2_000,
        })
      } finally {
        await stores.stop()
      }
    }
  } finally {
    edge.close()
    await sandbox.stop()
  }
  printTable('lists preview, ms', rows)
  return rows
}

/** Fills the index as a whole scan of the CRM would, with every company of the service's world in another spelling. */
async function fillIndex(env: Record<string, string>, companies: number): Promise<void> {
  const context = await createContext(resolveConfig(readEnvironment(env), {}))
  const states = createIndexStates(context.database.db, context)
  try {
    for (const [entity, count] of [
      ['companies', companies],
      ['contacts', 2 * companies],
    ] as const) {
      const state = await states.begin('hubspot', entity)
      for (let from = 0; from < count; from += 500) {
        const page = Array.from({ length: Math.min(500, count - from) }, (_, at) => from + at)
        const records = page.map((index) =>
          entity === 'companies' ? company(index) : contact(index, companies),
        )
        await context.recordIndex.keepSince('hubspot', entity, records, state.startedAt)
      }
      await states.complete(state)
    }
  } finally {
    await context.close()
  }
}

function company(index: number) {
  return {
    id: `${10_000 + index}`,
    object: 'company' as const,
    identity: {
      company: `Firm ${index} GmbH`,
      domain: `https://www.firm-${index}.example/de`,
      profileUrl: `https://de.profnet.com/company/firm-${index}/`,
    },
  }
}

function contact(index: number, companies: number) {
  return {
    id: `${900_000 + index}`,
    object: 'person' as const,
    identity: {
      firstName: `Given ${index}`,
      lastName: `Family ${index}`,
      email: `person-${index}@firm-${index % companies}.example`,
      profileUrl: `https://www.profnet.com/in/person-${index}`,
    },
  }
}

async function preview(
  { env: { PAYDIRT_DATA_DIR = '' } }: Stores,
  env: Record<string, string>,
  name: string,
  edge: Awaited<ReturnType<typeof timed>>,
): Promise<{ wholeMs: number; serviceMs: number; processorMs: number }> {
  const cwd = join(PAYDIRT_DATA_DIR, '../desk')
  await mkdir(cwd, { recursive: true })
  const lists = Object.fromEntries(
    countries.map((country, at) => [
      `list${at}`,
      {
        search: 'company.search',
        filters: { countries: [country] },
        into: { connector: 'hubspot', entity: 'companies' },
      },
    ]),
  )
  const config = { payment: { maxPricesUsd: { 'company.search': '0.05' } }, lists }
  await writeFile(join(cwd, 'paydirt.config.mjs'), `export default ${JSON.stringify(config)}\n`)
  edge.reset()
  const startMs = performance.now()
  const inherited = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] }
  const child = spawn(process.execPath, ['--import', tellsCpu, main, 'lists', 'preview', name, '--json'], {
    cwd,
    env: Object.fromEntries(
      Object.entries({ ...inherited, ...env }).filter(([, value]) => value !== undefined),
    ),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  const [status] = (await once(child, 'close')) as [number | null]
  const wholeMs = performance.now() - startMs
  if (status !== 0) throw new Error(`the preview ended with ${status}: ${said}`)
  const processorMs = Number(/processor (\d+)$/.exec(said.trim())?.[1])
  return { wholeMs, serviceMs: edge.takenMs(), processorMs }
}

/** Stands in front of the service, and adds up the time in which it had a request and no answer. */
async function timed(serviceUrl: string) {
  const target = new URL(serviceUrl)
  let taken = 0
  const server = createServer((incoming, outgoing) => {
    const startMs = performance.now()
    const { method, url, headers } = incoming
    const { hostname, port, host } = target
    const onward = forward({ hostname, port, method, path: url, headers: { ...headers, host } }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
      answer.once('end', () => (taken += performance.now() - startMs))
    })
    onward.on('error', (error) => outgoing.destroy(error))
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${target.pathname.replace(/\/$/, '')}`,
    takenMs: () => taken,
    reset: () => void (taken = 0),
    close: () => void server.close(),
  }
}
