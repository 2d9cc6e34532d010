import type { ConfigError } from '../../domain/errors.ts'
import { indefinitely } from '../../store/database/tables/states.ts'
import type { LookupKey } from '../../domain/keys.ts'
import type { Atomic } from '../../domain/money.ts'
import { operationRow, slotsOf } from '../../domain/operations.ts'
import type { Fact, LookupRequest } from '../../domain/record.ts'
import type { Operation } from '../../domain/words.ts'
import type { RunState } from '../../store/database/tables/states.ts'
import { lookupsWithCharges } from '../../store/views/record-lookups.ts'
import { pause } from '../../timing/pause.ts'
import type { Config } from '../config/config.ts'
import type { Context } from '../context/context.ts'
import { startMaintenance } from '../upkeep/maintenance.ts'
import { startWorkerRuntime, type WorkerRuntime } from '../runs/worker-runtime.ts'
import { callConnector, openCallRun } from './call-run.ts'
import { expireUnderOldNames } from './old-names.ts'
import { ownCharges, type OwnCharge } from './own-charges.ts'
import type { PlannedCall } from './plan-call.ts'

/** The end of one call. */
export type CallEnd =
  | { state: 'answered'; fact: Fact; isKnown: boolean; charges: Charges; runId: string | undefined }
  | { state: 'failed'; reason: string; charges: Charges; runId: string }
  | { state: 'parked'; reason: string; until: Date | null; charges: Charges; runId: string }
  | { state: 'interrupted'; charges: Charges; runId: string | undefined }
type Charges = OwnCharge[]

export interface CallSession {
  /** Buys the answer of a call, or returns the one that the ledger has. The same call after a crash continues the first. */
  buy(call: PlannedCall): Promise<CallEnd>
  /** Waits for what was sent, and ends the workers. */
  close(): Promise<void>
}

/**
 * Returns the settings with another cap for one operation: the payer refuses a challenge above it. The readings that show what
 * became of an action have that cap too, or the one of all operations, where the settings give them none.
 */
export function withCallCap(
  config: Config,
  operation: Operation,
  capAtomic: Atomic | undefined,
  /** The option of the command that is the cap; null for a setting's. */
  option: string | null = '--max-usd',
): Config {
  const { policy } = config
  const capsOf = (each: Operation, cap: Atomic | undefined) =>
    cap === undefined ? [] : slotsOf(each).map((slot): [string, Atomic] => [slot, cap])
  const readings =
    operationRow(operation).kind === 'action' ? (['monitor.list', 'monitor.read'] as const) : []
  const maxPrices = {
    ...Object.fromEntries(readings.flatMap((each) => capsOf(each, capAtomic ?? policy.maxPriceAtomic))),
    ...policy.maxPrices,
    ...Object.fromEntries(capsOf(operation, capAtomic)),
  }
  const slots = capAtomic === undefined ? [] : [operation, ...readings].flatMap((each) => slotsOf(each))
  const capNames =
    option === null
      ? policy.capNames
      : { ...policy.capNames, ...Object.fromEntries(slots.map((slot) => [slot, option])) }
  return { ...config, policy: { ...policy, maxPrices, capNames } }
}

/**
 * Opens the workers that carry calls out. A call is a lookup of a run of its own, so budgets, kill switch, pace, payments in
 * doubt and the ledger treat it as any other.
 *
 * Crash windows are those of a lookup: killed at any point, the ledger has the lookup and its charge, and the same call
 * continues it under the same key.
 */
export async function openCalls(
  context: Context,
  { first, signal, list }: { first: PlannedCall; signal: AbortSignal; list?: string },
): Promise<CallSession> {
  const { lookups, runs, database } = context
  let haltedBy: ConfigError | undefined
  let working: Working | undefined

  /** Opens the run and its workers for the first call that the ledger has no answer to. */
  async function start(): Promise<Working> {
    const run = await openCallRun(context, first, list)
    await lookups.unpark(run.id)
    let stopped: Promise<unknown> | undefined
    const onHalt = (error: ConfigError) => {
      haltedBy ??= error
    }
    const runtime = await startWorkerRuntime(context, { owner: { runId: run.id }, onHalt })
    const maintenance = await startMaintenance(context, ['worker'])
    return {
      runId: run.id,
      runtime,
      stop: async () => {
        await (stopped ??= Promise.all([
          maintenance.stop(),
          runtime.stop(Math.max(graceMs, first.contract.timeoutMs)),
        ]))
      },
    }
  }

  /**
   * Waits for the end of a lookup. At an interrupt it waits for the request that was sent, and reads once more: what was paid is
   * known only then.
   */
  async function untilEnded(
    key: LookupKey,
    { runId, stop }: Working,
    chargesOf: () => Promise<Charges>,
  ): Promise<CallEnd> {
    let isStopped = false
    for (;;) {
      const row = await lookups.get(key)
      if (row?.state === 'answered' || row?.state === 'failed') {
        const fact = (await lookups.facts([key])).get(key)
        const charges = await chargesOf()
        return fact && row.state === 'answered'
          ? { state: 'answered', fact, isKnown: false, charges, runId }
          : { state: 'failed', reason: fact?.reason ?? 'it failed', charges, runId }
      }
      const charges = await chargesOf()
      if (row?.state === 'parked')
        return {
          state: 'parked',
          reason: row.reason ?? 'parked',
          until: row.dueAt < indefinitely ? row.dueAt : null,
          charges,
          runId,
        }
      if (isStopped) return { state: 'interrupted', charges, runId }
      if (signal.aborted) {
        await stop()
        isStopped = true
      } else await pause(50, signal)
    }
  }

  async function freshAnswer(key: LookupKey): Promise<Fact | undefined> {
    const fact = (await lookups.freshFacts([key])).get(key)
    return fact && fact.outcome !== 'failed' ? fact : undefined
  }

  let lastEnd: CallEnd['state'] | undefined
  return {
    async buy(call) {
      const { key, operation, request } = call
      const known = await freshAnswer(key)
      if (known && !(await expireUnderOldNames(database.db, call, known, context.now())))
        return {
          state: 'answered',
          fact: known,
          isKnown: true,
          charges: [],
          runId: undefined,
        }
      if (signal.aborted) return { state: 'interrupted', charges: [], runId: working?.runId }
      const chargesOf = await ownCharges(
        async () => (await lookupsWithCharges(database.db, [key]))[0]?.charges ?? [],
      )
      working ??= await start()
      const { runId, runtime } = working
      const wanted = { key, operation, request: { ...request } as LookupRequest }
      await lookups.want([wanted], { id: runId, connector: callConnector, hot: true })
      runtime.wake()
      const end = await untilEnded(key, working, chargesOf)
      lastEnd = end.state
      // A setting that a person must mend says more than the parked lookup.
      if (end.state === 'parked' && haltedBy) throw haltedBy
      return end
    },

    async close() {
      if (!working) return
      await working.stop()
      await runs.setState(working.runId, lastEnd ? runStates[lastEnd] : 'finished')
    },
  }
}

interface Working {
  runId: string
  runtime: WorkerRuntime
  stop(): Promise<void>
}

const runStates: Readonly<Record<CallEnd['state'], RunState>> = {
  answered: 'finished',
  failed: 'finished',
  parked: 'parked',
  interrupted: 'stopped',
}

/** Requests on their way have this long to be answered when the command ends, or the operation's time-out where that is longer. */
const graceMs = 15_000
