import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { FaultsInput } from '../../src/sandbox/faults/faults.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { layLedger } from '../support/ledger-template.ts'
import { makeFile } from '../support/spellings.ts'
import { freshStores, type FreshStores } from '../support/stores.ts'
import { readAccounts, type Accounts } from './accounts.ts'
import type { KillPlan, WorkerOrder } from './kill-plan.ts'
import { startWorker, type Worker, type WorkerEnd } from './worker.ts'

/** A run with parked work is resumed this many times before the case counts as unfinished. */
const maxResumes = 6

export interface CaseOptions {
  faults?: FaultsInput
  /** Distinct companies. A fifth of them are in the file twice, in another spelling. */
  lookups: number
  fundsAtomic?: bigint
  file?: Record<string, unknown>
  env?: Record<string, string>
  authorizationSeconds?: number
  /** The test's own stores, which it may restart. */
  stores?: FreshStores
}

interface StartOptions {
  kill?: KillPlan | undefined
  clockAheadMs?: number
  env?: Record<string, string>
  task?: WorkerOrder['task']
}

/** A ledger, a wallet, a file and a sandbox of its own, with processes that work on it. */
export interface FaultCase {
  sandbox: Sandbox
  stores: FreshStores
  wallet: `0x${string}`
  walletKey: `0x${string}`
  rows: number
  kills: number
  start(options?: StartOptions): Worker
  /** Works until the run has ended. Processes are killed by the plans, one plan per process. Parked work is resumed. */
  finish(plans?: KillPlan[], options?: StartOptions): Promise<WorkerEnd>
  /** Resolves when the condition on the sandbox's counts is true. */
  until(condition: () => boolean): Promise<void>
  /** Runs the pass of `paydirt reconcile` over the charges that a run has left open, a minute later. */
  resolveOpenCharges(): Promise<void>
  accounts(): Promise<Accounts>
  close(): Promise<void>
}

/** Opens a case and always closes it again. */
export async function withCase(
  options: CaseOptions,
  use: (fault: FaultCase) => Promise<void>,
): Promise<void> {
  const fault = await openCase(options)
  try {
    await use(fault)
  } finally {
    await fault.close()
  }
}

async function openCase(options: CaseOptions): Promise<FaultCase> {
  const sandbox = await startSandbox(options.faults ? { faults: options.faults } : {})
  const stores = options.stores ?? (await freshStores())
  const walletKey = generatePrivateKey()
  const wallet = privateKeyToAccount(walletKey).address
  await sandbox.fund(wallet, options.fundsAtomic ?? 100_000_000n)
  const slugs = Array.from({ length: options.lookups }, (_, index) => `fault-${index}`)
  const made = makeFile([...slugs, ...slugs.slice(0, Math.floor(options.lookups / 5))])
  const folder = join(stores.dataDir, 'case')
  await mkdir(folder, { recursive: true })
  if (!options.stores) await layLedger(join(stores.dataDir, 'data'))
  await writeFile(join(folder, 'in.csv'), made.csv)
  const running = new Set<Worker>()

  function start({ kill, clockAheadMs = 0, env = {}, task = 'run' }: StartOptions = {}): Worker {
    const order: WorkerOrder = {
      task,
      env: {
        PAYDIRT_SERVICE_URL: sandbox.serviceUrl,
        PAYDIRT_RPC_URL: sandbox.rpcUrl,
        PAYDIRT_WALLET_KEY: walletKey,
        PAYDIRT_DATA_DIR: join(stores.dataDir, 'data'),
        PAYDIRT_REDIS_PREFIX: stores.redisPrefix,
        ...(stores.databaseUrl === undefined ? {} : { DATABASE_URL: stores.databaseUrl }),
        ...(stores.redisUrl === undefined ? {} : { REDIS_URL: stores.redisUrl }),
        ...options.env,
        ...env,
      },
      file: { pacing: { startPerSecond: 200 }, ...options.file },
      input: join(folder, 'in.csv'),
      out: join(folder, 'out.csv'),
      clockAheadMs,
      authorizationSeconds: options.authorizationSeconds,
      kill,
    }
    const worker = startWorker(order)
    running.add(worker)
    void worker.ended.then(() => running.delete(worker))
    if (kill?.point === 'after-settlement-before-answer') void killAfterSettlement(worker, kill)
    return worker
  }

  /** The server settles and withholds its answer, and the worker dies in between. */
  async function killAfterSettlement(worker: Worker, { nth, signal = 'SIGKILL' }: KillPlan): Promise<void> {
    const before = sandbox.stats().settled
    let over = false
    void worker.ended.then(() => (over = true))
    let armed = false
    while (!over) {
      const settled = sandbox.stats().settled - before
      if (!armed && settled >= nth - 1) {
        sandbox.faults.set({ facilitatorTimeout: { next: 1, delayMs: 3_000 } })
        armed = true
      }
      if (armed && sandbox.faults.get().facilitatorTimeout.next === 0 && settled >= nth) {
        worker.kill(signal)
        return
      }
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    sandbox.faults.set({ facilitatorTimeout: {} })
  }

  const self: FaultCase = {
    sandbox,
    stores,
    wallet,
    walletKey,
    rows: made.rows.length,
    kills: 0,
    start,
    async finish(plans = [], { clockAheadMs = 0, ...rest } = {}) {
      const left = [...plans]
      for (let parkedTimes = 0; ;) {
        const kill = left.shift()
        // A process that starts a minute later resumes parked work.
        const ahead = clockAheadMs + parkedTimes * 60_000
        const ended = await start({ ...rest, clockAheadMs: ahead, kill }).ended
        if (ended.signal === 'SIGKILL') {
          self.kills += 1
          continue
        }
        if (ended.status !== 0) throw new Error(`a worker failed (${ended.status}):\n${ended.output}`)
        if (ended.end === 'finished' || parkedTimes === maxResumes) return ended
        parkedTimes += 1
      }
    },
    async until(condition) {
      while (!condition()) {
        if (running.size === 0) throw new Error('every worker ended before the condition was true')
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
    },
    async resolveOpenCharges() {
      const ended = await start({ task: 'reconcile', clockAheadMs: 60_000 * (maxResumes + 1) }).ended
      if (ended.status !== 0) throw new Error(`reconcile failed (${ended.status}):\n${ended.output}`)
    },
    accounts: () => readAccounts(stores, sandbox, wallet),
    async close() {
      for (const worker of running) worker.kill('SIGKILL')
      await Promise.all([...running].map((worker) => worker.ended))
      await sandbox.stop()
      await stores.cleanup()
    },
  }
  return self
}
