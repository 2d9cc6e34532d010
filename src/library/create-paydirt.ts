import { resolveConfig, type Config } from '../app/config/config.ts'
import { describeIssues } from '../app/config/describe-issues.ts'
import { readEnvironment } from '../app/config/environment.ts'
import { fileSchema } from '../app/config/file.ts'
import { ConfigError, PaydirtError, type Recovery } from '../domain/errors.ts'
import { isAway } from '../store/database/retry-while-away.ts'
import { createEvents } from './events.ts'
import { closedError } from './held-context.ts'
import type { OpenedPaydirt } from './open-paydirt.ts'
import type { FileWork, Paydirt, PaydirtOptions, RecordsWork } from './types.ts'

/**
 * Makes an object that plans, enriches, syncs and reads, with the settings and rules of the command line, which is built on
 * it. The ledger is opened by the first call that writes and held until `close`; runs of one object are carried out one after
 * the other. Throws ConfigError for settings that are not valid.
 *
 * @example
 * ```ts
 * import { createPaydirt, recoveryOf } from 'paydirt'
 *
 * try {
 *   await using paydirt = createPaydirt({ config: { budgets: { dayUsd: '20' } } })
 *   const { summary } = await paydirt.enrich({ file: 'leads.csv', object: 'company', out: 'leads-enriched.csv' })
 *   console.log(`${summary.tasks.written} rows, ${summary.spend.settled} USD`)
 * } catch (error) {
 *   if (recoveryOf(error) !== 'retry_later') throw error
 *   console.error('later:', error)
 * }
 * ```
 */
export function createPaydirt({ config = {}, env = process.env }: PaydirtOptions = {}): Paydirt {
  const file = fileSchema.safeParse(config)
  if (!file.success)
    throw new ConfigError('bad_config', `config: ${describeIssues(fileSchema, file.error.issues)}`)
  const resolved = resolveConfig(readEnvironment({ ...env }), file.data)
  const events = createEvents()
  let opened: Promise<OpenedPaydirt> | undefined
  let isClosed = false

  async function on<T>(use: (paydirt: OpenedPaydirt) => Promise<T>): Promise<T> {
    if (isClosed) throw closedError()
    return use(await (opened ??= open(resolved, events)))
  }

  async function close(): Promise<void> {
    isClosed = true
    await (await opened)?.close()
    events.close()
  }

  return {
    plan: ((work, options) => on((paydirt) => paydirt.plan(work as FileWork, options))) as Paydirt['plan'],
    apply: (planId, options) => on((paydirt) => paydirt.apply(planId, options)),
    enrich: ((work, options) =>
      on((paydirt) => paydirt.enrich(work as RecordsWork, options))) as Paydirt['enrich'],
    sync: (work, options) => on((paydirt) => paydirt.sync(work, options)),
    runs: (options) => on((paydirt) => paydirt.runs(options)),
    run: (runId) => on((paydirt) => paydirt.run(runId)),
    events: ({ signal } = {}) => events.read(signal),
    history: (record, options) => on((paydirt) => paydirt.history(record, options)),
    undo: (runId, options) => on((paydirt) => paydirt.undo(runId, options)),
    spend: (options) => on((paydirt) => paydirt.spend(options)),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Loads what works only now: databases, queues and payments are large, and a program may only read the types. */
async function open(config: Config, events: ReturnType<typeof createEvents>): Promise<OpenedPaydirt> {
  const { readWallet, walletFile } = await import('../app/config/wallet-file.ts')
  const { openPaydirt } = await import('./open-paydirt.ts')
  const walletKey = config.walletKey ?? (await readWallet(walletFile(config.dataDir)))
  return openPaydirt({ ...config, walletKey }, { events, actor: { actor: 'library', role: 'program' } })
}

/**
 * Returns the next thing to do about anything that was thrown: the `recovery` of an error of ours, `retry_later` when the
 * connection to Postgres or Redis was lost, `report` for anything else.
 */
export function recoveryOf(error: unknown): Recovery {
  if (error instanceof PaydirtError) return error.recovery
  return error instanceof Error && isAway(error) ? 'retry_later' : 'report'
}
