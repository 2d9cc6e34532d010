import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { FileConfig } from '../../src/app/config/file.ts'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { layLedger } from './ledger-template.ts'
import { runInProcess } from './run-in-process.ts'
import { shortProcess } from './short-process.ts'
import { freshStores, type FreshStores } from './stores.ts'

const main = join(import.meta.dirname, '../../src/cli/main.ts')

export interface Ended {
  status: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
  /** Standard output as the one JSON document that it must be. */
  json<T = Record<string, unknown>>(): T
}

export interface Running {
  pid: number
  kill(signal: NodeJS.Signals): void
  /** Sends the signal as soon as the condition holds. Fails when the command ends before. */
  killWhen(signal: NodeJS.Signals, condition: () => boolean): Promise<Ended>
  /** Returns the first match of the pattern on standard error, as soon as it is there. Fails when the command ends before. */
  said(pattern: RegExp): Promise<RegExpExecArray>
  /** Standard output so far. */
  printed(): string
  ended: Promise<Ended>
}

export interface Settings {
  stores: FreshStores
  /** Absent: no service, wallet or chain is set. */
  sandbox?: Pick<Sandbox, 'serviceUrl' | 'logoUrl' | 'rpcUrl'>
  walletKey?: string
  /** Further variables; undefined takes one away. */
  env?: Record<string, string | undefined>
  /** The folder in which the command runs: its `.env` and `paydirt.config.*` count, and those of the checkout do not. */
  cwd?: string
  /** Another program of ours than the command line. */
  program?: string
}

/** Starts `paydirt` from the sources as a child, with nothing of this process's own settings. */
export function startPaydirt(args: readonly string[], settings: Settings): Running {
  const child = spawn(process.execPath, [...shortProcess, settings.program ?? main, ...args], {
    cwd: settings.cwd ?? settings.stores.dataDir,
    env: environment(settings),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []]
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
  let isOver = false
  const ended = once(child, 'close').then(([status, signal]): Ended => {
    isOver = true
    const out = Buffer.concat(stdout).toString()
    return {
      status: status as number | null,
      signal: signal as NodeJS.Signals | null,
      stdout: out,
      stderr: Buffer.concat(stderr).toString(),
      json: () => JSON.parse(out) as never,
    }
  })
  return {
    pid: child.pid ?? 0,
    kill: (signal) => void child.kill(signal),
    ended,
    printed: () => Buffer.concat(stdout).toString(),
    async killWhen(signal, condition) {
      // The condition lies in this process and changes with its own events: looking once a turn of the loop misses nothing.
      while (!isOver && !condition()) await new Promise((resolve) => setTimeout(resolve, 1))
      if (isOver) throw new Error(`the command ended before it could be killed:\n${(await ended).stderr}`)
      child.kill(signal)
      return ended
    },
    async said(pattern) {
      for (;;) {
        const found = pattern.exec(Buffer.concat(stderr).toString())
        if (found) return found
        if (isOver) throw new Error(`the command ended without saying ${pattern}:\n${(await ended).stderr}`)
        await Promise.race([once(child.stderr, 'data'), ended])
      }
    },
  }
}

/** Runs `paydirt` to its end in this process; `startPaydirt` is for what only a process of its own can show. */
export function paydirt(args: readonly string[], settings: Settings): Promise<Ended> {
  return runInProcess(args, {
    env: environment(settings),
    cwd: settings.cwd ?? settings.stores.dataDir,
  })
}

function environment({ stores, sandbox, walletKey, env }: Settings): NodeJS.ProcessEnv {
  const ours: Record<string, string | undefined> = {
    PAYDIRT_DATA_DIR: join(stores.dataDir, 'data'),
    PAYDIRT_REDIS_PREFIX: stores.redisPrefix,
    DATABASE_URL: stores.databaseUrl,
    REDIS_URL: stores.redisUrl,
    PAYDIRT_SERVICE_URL: sandbox?.serviceUrl,
    PAYDIRT_LOGO_URL: sandbox?.logoUrl,
    PAYDIRT_RPC_URL: sandbox?.rpcUrl,
    PAYDIRT_WALLET_KEY: walletKey,
    ...env,
  }
  const inherited = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'NODE_COMPILE_CACHE'].map((name) => [
    name,
    process.env[name],
  ])
  return Object.fromEntries(
    [...inherited, ...Object.entries(ours)].filter(([, value]) => value !== undefined),
  ) as NodeJS.ProcessEnv
}

/** One user's desk: stores, a wallet and a folder of its own, in front of a sandbox that others may use too. */
export async function openDesk(
  sandbox: Sandbox,
  options: { fundsAtomic?: bigint; config?: FileConfig } = {},
) {
  const stores = await freshStores()
  const walletKey = generatePrivateKey()
  const wallet = privateKeyToAccount(walletKey).address
  const folder = join(stores.dataDir, 'desk')
  await mkdir(folder)
  await layLedger(join(stores.dataDir, 'data'))
  const config = { pacing: { startPerSecond: 300 }, ...options.config }
  await writeFile(join(folder, 'paydirt.config.mjs'), `export default ${JSON.stringify(config)}\n`)
  const funds = options.fundsAtomic ?? 20_000_000n
  if (funds > 0n) await sandbox.fund(wallet, funds)
  const settings: Settings = { stores, sandbox, walletKey, cwd: folder }
  const running = new Set<Running>()
  function start(args: readonly string[], env?: Settings['env']): Running {
    const command = startPaydirt(args, { ...settings, ...(env ? { env } : {}) })
    running.add(command)
    void command.ended.then(() => running.delete(command))
    return command
  }

  return {
    stores,
    wallet,
    walletKey,
    folder,
    /** The variables of its commands, for the library. */
    variables: environment(settings),
    at: (name: string) => join(folder, name),
    write: async (name: string, content: string | Uint8Array) => {
      await writeFile(join(folder, name), content)
      return name
    },
    read: (name: string) => readFile(join(folder, name), 'utf8'),
    /** An output's rows by column name. */
    rows: async (name: string) =>
      parse(await readFile(join(folder, name)), { columns: true, bom: true }) as Record<string, string>[],
    /** In this process; see `runInProcess`. */
    run: (args: readonly string[], env?: Settings['env']) =>
      paydirt(args, { ...settings, ...(env ? { env } : {}) }),
    /** As a process of its own, which can be killed, and which has to end by itself. */
    start,
    transfers: () => sandbox.transfersFrom(wallet),
    async close() {
      // A test that ran out of time leaves its command behind, and a database does not survive the loss of its directory.
      await Promise.all(
        [...running].map((command) => {
          command.kill('SIGKILL')
          return command.ended
        }),
      )
      await stores.cleanup()
    },
  }
}

export type Desk = Awaited<ReturnType<typeof openDesk>>
