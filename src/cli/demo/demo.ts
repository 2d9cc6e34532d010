import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { privateKeyToAccount } from 'viem/accounts'
import { resolveConfig } from '../../app/config/config.ts'
import { openConnector } from '../../app/context/connectors.ts'
import { createContext, type Context } from '../../app/context/context.ts'
import { enrichCsv, openInput } from '../../app/runs/enrich-csv.ts'
import { reconcile } from '../../app/money/reconcile.ts'
import type { Progress } from '../../app/runs/run-progress.ts'
import type { RunEnd } from '../../app/runs/run-to-end.ts'
import type { RunSummary } from '../../app/runs/summary.ts'
import { entitiesOf } from '../../app/context/entities.ts'
import { makeReady, syncEntity } from '../../app/runs/sync.ts'
import { formatUsd, parseUsd } from '../../domain/money.ts'
import type { ObjectKind } from '../../domain/words.ts'
import { counted } from '../../domain/values/counted.ts'
import type { StandInName } from '../../sandbox/stand-ins.ts'
import { runRecords } from '../../store/views/desk-runs.ts'
import { exitStatus } from '../terminal/exit.ts'
import { summaryText } from '../terminal/print-summary.ts'
import { createProgressView } from '../terminal/progress.ts'
import {
  addSettings,
  atUsualPort,
  commandLines,
  demoWallet,
  openDemoFolder,
  type DemoFolder,
} from './demo-folder.ts'
import { demoList, knownToCrm, type ListDemo } from './demo-list.ts'
import { demoMonitor, type MonitorDemo } from './demo-monitor.ts'
import { startSandboxProcess, type SandboxProcess } from './sandbox-process.ts'
import { stopSignal } from '../terminal/with-context.ts'
import { print, printError } from '../terminal/print.ts'

const samples: { file: string; object: ObjectKind }[] = [
  { file: 'companies.csv', object: 'company' },
  { file: 'people.csv', object: 'person' },
]

interface Options {
  out: string
  crm?: StandInName
  limit?: number
  list?: true
  monitor?: true
  json?: true
}

/**
 * The demo has its own ledger, wallet and chain, apart from any real ones. They are kept in its folder, where every command
 * finds them, and a second demo pays nothing.
 */
export async function demo(options: Options): Promise<void> {
  const say = (text: string) => (options.json ? printError : print)(`${text}\n`)
  const signal = stopSignal()
  const folder = await openDemoFolder(options.out)
  const walletKey = await demoWallet(folder)
  const wallet = privateKeyToAccount(walletKey).address
  say('starting a sandbox of the data service, with a local chain ...')
  const sandbox = await startSandboxProcess({
    stateFile: folder.stateFile,
    crm: options.crm,
    known: options.list ? knownToCrm : 0,
  })
  if (options.crm) await addSettings(folder, atUsualPort(options.crm, sandbox.crm ?? {}))
  try {
    const environment = demoEnvironment(sandbox, walletKey, folder.dataDir)
    const config = resolveConfig(environment, { pacing: { startPerSecond: 150 } })
    let context = await createContext(config)
    try {
      const funded = await fund(context, sandbox.serviceUrl, wallet)
      say(`wallet ${wallet} holds ${formatUsd(funded)} USDC\n`)
      const goesByCommands = options.list === true || options.monitor === true
      const paidBefore = goesByCommands ? await bookedAtomic(context, wallet) : 0n
      let list: ListDemo | undefined
      let monitor: MonitorDemo | undefined
      if (goesByCommands) {
        // The ledger belongs to one process at a time: here to the commands.
        await context.close()
        const shared = { crm: options.crm ?? 'hubspot', environment, signal, say } as const
        try {
          if (options.monitor) monitor = await demoMonitor(folder, { ...shared, config, sandbox })
          else list = await demoList(folder, { ...shared, limit: options.limit })
        } finally {
          context = await createContext(config)
        }
        if (signal.aborted) {
          process.exitCode = exitStatus.interrupted
          return
        }
      }
      const work = goesByCommands
        ? []
        : options.crm
          ? syncCrm(context, options.crm, options.limit, { signal, say })
          : enrichSamples(context, options.out, options.limit, { signal, say })
      const summaries: RunSummary[] = []
      for await (const { end, summary } of work) {
        summaries.push(summary)
        if (end !== 'interrupted') continue
        process.exitCode = exitStatus.interrupted
        return
      }
      const { chain, ledger, differences } = await reconcile(context, wallet)
      const booked = formatUsd(parseUsd(ledger.settled) + parseUsd(ledger.lost))
      const agree = chain.amount === booked && differences.length === 0
      const paid = goesByCommands
        ? parseUsd(booked) - paidBefore
        : summaries.reduce((sum, { spend }) => sum + parseUsd(spend.settled), 0n)
      say(`paid in this run: ${formatUsd(paid)} USD
chain   ${chain.amount} USD in ${counted(chain.transfers, 'transfer')}
ledger  ${booked} USD in ${counted(ledger.charges, 'charge')}
${agree ? 'ledger and chain agree to the cent.' : 'LEDGER AND CHAIN DIFFER.'}${paid > 0n ? ' Run the demo again: it pays nothing.' : ''}`)
      const next = goesByCommands
        ? commandLines(folder, [list ? 'lists' : 'monitors deliveries', 'runs', 'start'], shell())
        : await nextCommands(context, folder, summaries)
      say(`
next, what it left to look at (no sandbox, key or network needed):
${next.map((line) => `  ${line}`).join('\n')}
the last one is the desk at http://127.0.0.1:${context.config.port}, until Ctrl-C. docs/tour.md goes on from here.`)
      if (options.json) {
        const document = {
          runs: summaries,
          ...(list && { list }),
          ...(monitor && { monitor }),
          paid: formatUsd(paid),
          chain: chain.amount,
          ledger: booked,
          agree,
          folder: folder.path,
          next,
        }
        print(`${JSON.stringify(document)}\n`)
      }
      process.exitCode = agree && (monitor?.crm.isAsBefore ?? true) ? exitStatus.done : exitStatus.failed
    } finally {
      await context.close()
    }
  } finally {
    await sandbox.stop()
  }
}

/** Returns all that the ledger says was paid by now. */
async function bookedAtomic(context: Context, wallet: `0x${string}`): Promise<bigint> {
  const { ledger } = await reconcile(context, wallet)
  return parseUsd(ledger.settled) + parseUsd(ledger.lost)
}

interface DemoOutput {
  signal: AbortSignal
  say: (text: string) => void
}
type Result = { end: RunEnd; summary: RunSummary }

async function* enrichSamples(
  context: Context,
  folder: string,
  limit: number | undefined,
  { signal, say }: DemoOutput,
): AsyncGenerator<Result> {
  for (const { file, object } of samples) {
    const out = join(folder, file)
    const sample = join(import.meta.dirname, '../../../samples', file)
    const input =
      limit === undefined ? sample : await beginningOf(sample, join(folder, `sample-${file}`), limit)
    const csv = await openInput(context.config, { input, object })
    yield await watched(csv.rowCount, say, out, (onProgress) =>
      enrichCsv(context, csv, { out, signal, onProgress }),
    )
  }
}

/** Writes the first rows of a file, as they are there, into another file. Returns its path. */
async function beginningOf(sample: string, path: string, rows: number): Promise<string> {
  const options = { raw: true, bom: true, relax_column_count: true, relax_quotes: true, to: rows + 1 }
  const read = parse(await readFile(sample), options) as unknown as { raw: string }[]
  await writeFile(path, read.map(({ raw }) => raw).join(''))
  return path
}

async function* syncCrm(
  context: Context,
  name: StandInName,
  limit: number | undefined,
  { signal, say }: DemoOutput,
): AsyncGenerator<Result> {
  const connector = await openConnector(context.config, name, await context.openEngine())
  try {
    // All records, whatever an earlier demo has read: the numbers of each demo are those of the whole CRM.
    const since = new Date(0)
    const entities = entitiesOf(connector, undefined)
    await makeReady(connector, entities)
    for (const entity of entities) {
      const job = { entity, since, limit, filter: [] }
      yield await watched(undefined, say, undefined, (onProgress) =>
        syncEntity(context, connector, job, { signal, onProgress }),
      )
    }
  } finally {
    await connector.close()
  }
}

async function watched(
  total: number | undefined,
  say: DemoOutput['say'],
  out: string | undefined,
  work: (onProgress: (progress: Progress) => void) => Promise<Result>,
): Promise<Result> {
  const view = createProgressView({ total, nowMs: () => performance.now() })
  const result = await work((progress) => view.show(progress)).finally(() => view.end())
  say(summaryText(result.summary, result.end, out))
  return result
}

/** Returns the commands that show what the demo did, as they can be copied, with a record that it has filled. */
async function nextCommands(
  { database, runs }: Context,
  folder: DemoFolder,
  summaries: readonly RunSummary[],
): Promise<string[]> {
  const commands = ['runs', 'start']
  // A demo that is run again may have had nothing to write.
  const earlier = (await runs.list(50)).map(({ id, ...run }) => ({ ...run, runId: id }))
  for (const { runId, connector, object } of [...summaries, ...earlier]) {
    const [record] = await runRecords(database.db, runId, { after: -1, limit: 1, status: 'written' })
    if (record === undefined) continue
    commands.splice(1, 0, `history ${connector}:${object}:${record.recordId}`)
    break
  }
  return commandLines(folder, commands, shell())
}

/** The folder and the variables of the shell in which the demo was started. */
function shell() {
  return { from: process.env['INIT_CWD'] ?? process.cwd(), env: process.env }
}

function demoEnvironment(
  sandbox: SandboxProcess,
  walletKey: `0x${string}`,
  dataDir: string,
): Record<string, string> {
  return {
    PAYDIRT_SERVICE_URL: sandbox.serviceUrl,
    PAYDIRT_LOGO_URL: sandbox.logoUrl,
    PAYDIRT_RPC_URL: sandbox.rpcUrl,
    PAYDIRT_WALLET_KEY: walletKey,
    PAYDIRT_DATA_DIR: dataDir,
    ...sandbox.crm,
  }
}

/** Tops the wallet up to 10 USDC of the sandbox's money. Returns the balance. */
async function fund(context: Context, serviceUrl: string, wallet: string): Promise<bigint> {
  const wanted = parseUsd('10')
  const held = await context.chain.balanceOf(wallet)
  if (held >= wanted / 2n) return held
  const response = await fetch(`${serviceUrl}/_sandbox/fund`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ address: wallet, amountAtomic: String(wanted - held) }),
  })
  if (!response.ok) throw new Error(`the sandbox did not fund the wallet (${response.status})`)
  return context.chain.balanceOf(wallet)
}
