import { once } from 'node:events'
import { createServer } from 'node:net'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { createWallet, readWallet } from '../../app/config/wallet-file.ts'
import { ConfigError } from '../../domain/errors.ts'
import { formatUsd, parseUsd } from '../../domain/money.ts'
import type { Sandbox } from '../../sandbox/sandbox.ts'
import { API_KEY } from '../../sandbox/accounts.ts'
import { crmStateFile, startCrm, type StandInName } from '../../sandbox/stand-ins.ts'
import { liveLine } from '../terminal/live-line.ts'
import { print, printError } from '../terminal/print.ts'
import { addSettings, demoFolderAt, demoWallet, differingSettings, type DemoFolder } from './demo-folder.ts'
import { crmPort } from './ports.ts'

interface Options {
  port: number
  rpcPort: number
  state?: string
  crm: StandInName[]
  crmPort?: number
  records: number
  paydirtUrl: string
  json?: true
}

/** Runs until Ctrl-C. Throws ConfigError for a port that is taken. */
export async function sandbox(options: Options): Promise<void> {
  // Listens before anything is started: Ctrl-C at any moment ends what there is.
  const stopped = new Promise<void>((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
  const crms = options.crm.map((name, at) => ({ name, port: portOf(name, at, options.crmPort) }))
  await assertFree(options.port, '--port')
  await assertFree(options.rpcPort, '--rpc-port')
  for (const each of crms) await assertFree(each.port, '--crm-port')
  const folder = demoFolderAt(process.cwd())
  // The stand-in's servers are large; no other command needs them.
  const { startSandbox } = await import('../../sandbox/sandbox.ts')
  const stateFile = options.state ?? folder?.stateFile
  const service = await startSandbox({
    port: options.port,
    rpcPort: options.rpcPort,
    // Answers are stored by payment id, so that one lost in a crash between payment and answer can be asked for again.
    faults: { paymentIdentifier: true },
    stateFile,
  })
  const stops = [() => service.stop()]
  try {
    const started = []
    for (const { name, port: wanted } of crms) {
      const { records, paydirtUrl } = options
      const standIn = await startCrm(name, {
        port: wanted,
        records,
        paydirtUrl,
        stateFile: crmStateFile(name, stateFile),
      })
      stops.push(() => standIn.stop())
      started.push({ name, ...standIn })
    }
    const walletKey = folder ? await demoWallet(folder) : await playKey(options.state)
    const wallet = privateKeyToAccount(walletKey).address
    const balance = await fund(service, wallet)
    const settings = {
      PAYDIRT_SERVICE_URL: service.serviceUrl,
      PAYDIRT_LOGO_URL: service.logoUrl,
      PAYDIRT_RPC_URL: service.rpcUrl,
      // In the folder of a demo it is in its data directory already.
      ...(folder ? {} : { PAYDIRT_WALLET_KEY: walletKey }),
      ...Object.assign({}, ...started.map(({ environment }) => environment)),
    } as Record<string, string>
    const pages = started.map(({ name, pageUrl }) => ({ crm: name, pageUrl }))
    const added = folder ? await addSettings(folder, settings) : []
    if (options.json) {
      print(
        `${JSON.stringify({ settings, wallet, balance: formatUsd(balance), pages, added, apiKey: API_KEY })}\n`,
      )
    } else {
      print(`${settingsText(settings)}
# wallet ${wallet} holds ${formatUsd(balance)} USDC of play money, on the chain of this sandbox alone
${pages.map((page) => `# the records of ${page.crm}: ${page.pageUrl}\n`).join('')}# more money:     curl -X POST ${service.serviceUrl}/_sandbox/fund -H 'content-type: application/json' -d '{"address":"${wallet}","amountAtomic":"1000000"}'
# API key:        PAYDIRT_API_KEY=${API_KEY} (a workspace with monitors; pays in credits, so leave it out for payments)
# list faults:    curl ${service.serviceUrl}/_sandbox/faults
# switch one:     curl -X POST ${service.serviceUrl}/_sandbox/faults -H 'content-type: application/json' -d '{"renamedKeys":[{"only":["news_search"],"from":"domains","to":"company_domains"}]}'
# a rate limit:   curl -X POST ${service.serviceUrl}/_sandbox/faults -H 'content-type: application/json' -d '{"rateLimit":{"limit":20,"windowMs":1000}}'
# as at start:    curl -X DELETE ${service.serviceUrl}/_sandbox/faults
`)
    }
    liveLine.end()
    const end =
      stateFile === undefined
        ? 'Ctrl-C ends it, with its chain and money (--state FILE keeps them).'
        : 'Ctrl-C ends it.'
    printError(`${hint(folder, settings, added)} ${end}\n`)
    await stopped
  } finally {
    for (const stop of stops.toReversed()) await stop()
  }
}

/** Returns how other commands find this sandbox. */
function hint(
  folder: DemoFolder | undefined,
  settings: Readonly<Record<string, string>>,
  added: readonly string[],
): string {
  if (!folder) return 'Put these lines into the .env of an empty folder, and run other commands there.'
  const others = differingSettings(folder, settings)
  return others.length > 0
    ? `The folder's .env has other addresses, and its commands do not find this sandbox: leave the options for ports out, or set ${others.join(', ')} there.`
    : `The folder's .env has these settings${added.length > 0 ? ' now' : ''}: other commands in it use this sandbox.`
}

function settingsText(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')
}

/** Returns the key of a wallet for this chain: as lasting as the chain itself. */
async function playKey(stateFile: string | undefined): Promise<`0x${string}`> {
  if (stateFile === undefined) return generatePrivateKey()
  const file = `${stateFile}.wallet`
  const saved = await readWallet(file)
  if (saved !== undefined) return saved
  await createWallet(file)
  return playKey(stateFile)
}

const wanted = parseUsd('10')

/** Tops a wallet up to 10 USDC when it has less than half of them. Returns the balance. */
async function fund(service: Sandbox, wallet: `0x${string}`): Promise<bigint> {
  const held = await service.balanceOf(wallet)
  if (held >= wanted / 2n) return held
  await service.fund(wallet, wanted - held)
  return wanted
}

function portOf(name: StandInName, at: number, first: number | undefined): number {
  if (first === undefined) return crmPort(name)
  return first === 0 ? 0 : first + at
}

/** Throws ConfigError naming the port that another process has. */
async function assertFree(number: number, option: string): Promise<void> {
  if (number === 0) return
  const probe = createServer()
  probe.listen(number, '127.0.0.1')
  try {
    await once(probe, 'listening')
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code
    throw new ConfigError(
      'port_taken',
      reason === 'EADDRINUSE'
        ? `port ${number} is taken by another process; name a free one with ${option} (0: any)`
        : `cannot listen on port ${number} (${reason}); name another one with ${option} (0: any)`,
      { cause: error },
    )
  }
  probe.close()
  await once(probe, 'close')
}
