import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Command } from 'commander'
import { privateKeyToAccount } from 'viem/accounts'
import { resolveConfig, type Config } from '../app/config.ts'
import { createContext, type Context } from '../app/context.ts'
import { enrichCsv, openInput } from '../app/enrich-csv.ts'
import { reconcile } from '../app/reconcile.ts'
import { createWallet, readWallet } from '../app/wallet-file.ts'
import type { RunSummary } from '../app/summary.ts'
import { formatUsd, parseUsd } from '../domain/money.ts'
import type { ObjectKind } from '../domain/words.ts'
import { exitStatus } from './exit.ts'
import { printSummary } from './print-summary.ts'
import { createProgressView } from './progress.ts'
import { startSandboxProcess } from './sandbox-process.ts'
import { stopSignal } from './with-context.ts'

const samples: { file: string; object: ObjectKind }[] = [
  { file: 'companies.csv', object: 'company' },
  { file: 'people.csv', object: 'person' },
]

export function demoCommand(): Command {
  return new Command('demo')
    .description(
      'Enrich a sample CRM export against a sandbox on this machine, with real payments on a local chain.',
    )
    .option('--out <folder>', 'where the enriched files go', 'demo-out')
    .option('--json', 'print one JSON document')
    .action(run)
}

/** The demo keeps its own ledger, wallet and chain, apart from any real ones, so that a second demo finds everything paid. */
async function run(options: { out: string; json?: true }): Promise<void> {
  const say = (text: string) => void (options.json ? process.stderr : process.stdout).write(`${text}\n`)
  const signal = stopSignal()
  const home = resolve(process.env['PAYDIRT_DATA_DIR'] ?? '.paydirt', 'demo')
  await mkdir(home, { recursive: true })
  await mkdir(options.out, { recursive: true })
  const walletKey = await demoWallet(join(home, 'wallet.key'))
  const wallet = privateKeyToAccount(walletKey).address
  say('starting a sandbox of the data service, with a local chain ...')
  const sandbox = await startSandboxProcess({ stateFile: join(home, 'chain.json') })
  try {
    const config = demoConfig(sandbox, walletKey, home)
    const context = await createContext(config)
    try {
      const funded = await fund(context, sandbox.serviceUrl, wallet)
      say(`wallet ${wallet} holds ${formatUsd(funded)} USDC\n`)
      const summaries: RunSummary[] = []
      for (const { file, object } of samples) {
        const summary = await enrich(context, { file, object, out: join(options.out, file), signal, say })
        if (!summary) {
          process.exitCode = exitStatus.interrupted
          return
        }
        summaries.push(summary)
      }
      const { chain, ledger, differences } = await reconcile(context, wallet)
      const booked = formatUsd(parseUsd(ledger.settled) + parseUsd(ledger.lost))
      const agree = chain.amount === booked && differences.length === 0
      const paid = summaries.reduce((sum, { spend }) => sum + parseUsd(spend.settled), 0n)
      say(`paid in this run: ${formatUsd(paid)} USD
chain   ${chain.amount} USD in ${chain.transfers} transfers
ledger  ${booked} USD in ${ledger.charges} charges
${agree ? 'they agree to the cent.' : 'THEY DIFFER.'}${paid > 0n ? ' Run the demo again: it pays nothing.' : ''}`)
      if (options.json) {
        const document = {
          runs: summaries,
          paid: formatUsd(paid),
          chain: chain.amount,
          ledger: booked,
          agree,
        }
        process.stdout.write(`${JSON.stringify(document)}\n`)
      }
      process.exitCode = agree ? exitStatus.done : exitStatus.failed
    } finally {
      await context.close()
    }
  } finally {
    await sandbox.stop()
  }
}

async function enrich(
  context: Context,
  job: { file: string; object: ObjectKind; out: string; signal: AbortSignal; say: (text: string) => void },
): Promise<RunSummary | undefined> {
  const input = join(import.meta.dirname, '../../samples', job.file)
  const csv = await openInput(context.config, { input, object: job.object })
  const view = createProgressView({
    total: csv.rowCount,
    stream: process.stderr,
    nowMs: () => performance.now(),
  })
  const { end, summary } = await enrichCsv(context, csv, {
    out: job.out,
    signal: job.signal,
    onProgress: (progress) => view.show(progress),
  }).finally(() => view.end())
  const lines: string[] = []
  printSummary(
    { write: (text: string) => lines.push(text) } as unknown as NodeJS.WritableStream,
    summary,
    end,
    job.out,
  )
  job.say(lines.join(''))
  return end === 'interrupted' ? undefined : summary
}

function demoConfig(
  sandbox: { serviceUrl: string; logoUrl: string; rpcUrl: string },
  walletKey: `0x${string}`,
  dataDir: string,
): Config {
  const environment = {
    PAYDIRT_SERVICE_URL: sandbox.serviceUrl,
    PAYDIRT_LOGO_URL: sandbox.logoUrl,
    PAYDIRT_RPC_URL: sandbox.rpcUrl,
    PAYDIRT_WALLET_KEY: walletKey,
    PAYDIRT_DATA_DIR: dataDir,
  }
  return resolveConfig(environment, { pacing: { startPerSecond: 150 } })
}

async function demoWallet(file: string): Promise<`0x${string}`> {
  const kept = await readWallet(file)
  if (kept !== undefined) return kept
  await createWallet(file)
  return demoWallet(file)
}

/** Tops the wallet up to 10 USDC of the sandbox's money. */
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
