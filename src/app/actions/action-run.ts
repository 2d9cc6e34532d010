import { errorCode } from '../../domain/error-codes.ts'
import { RetriableError } from '../../domain/errors.ts'
import type { LookupKey } from '../../domain/keys.ts'
import type { Fact, LookupRequest } from '../../domain/record.ts'
import type { RunState } from '../../store/database/tables/states.ts'
import type { PaidRequest } from '../../pay/purchase.ts'
import { holdLookup } from '../../store/contract/service-actions.ts'
import { pause } from '../../timing/pause.ts'
import type { Operation } from '../../domain/words.ts'
import type { Context } from '../context/context.ts'
import type { Engine } from '../context/engine.ts'
import { takeFirstCount } from '../money/account-count.ts'
import { startMaintenance } from '../upkeep/maintenance.ts'
import { callConnector, openCallRun } from '../service/call-run.ts'
import type { PlannedCall } from '../service/plan-call.ts'
import { heedStates } from './heed-states.ts'

type Asked = Readonly<Record<string, unknown>>

export interface ActionRun {
  id: string
  connector: string
  prepare: Engine['prepare']
  /** Buys the answer of a lookup that this command alone sends. Throws as the payer does, and for a stopped operation. */
  buy(key: LookupKey, request: PaidRequest, asked: Asked): Promise<Fact>
  /** Buys the answer of a reading, under a key of its own: one in doubt never keeps the next one from being made. */
  read(operation: Operation, request: LookupRequest, name: string): Promise<Record<string, unknown> | null>
  close(state: RunState): Promise<void>
}

/** Opens the run under which an action and its readings are paid for. No worker takes part: each request is sent from here. */
export async function openActionRun(
  context: Context,
  call: PlannedCall,
  signal: AbortSignal,
): Promise<ActionRun> {
  const { runs, database } = context
  const engine = await context.openEngine()
  await takeFirstCount(context, engine)
  const run = await openCallRun(context, call)
  const maintenance = await startMaintenance(context, ['worker'])

  const buy: ActionRun['buy'] = (key, request, asked) =>
    heedStates(context, request.operation, asked, () => buyInTime(key, request))

  async function buyInTime(key: LookupKey, request: PaidRequest): Promise<Fact> {
    const purchase = {
      key,
      buys: [key],
      runId: run.id,
      connector: callConnector,
      lane: 'hot',
      request,
    } as const
    for (let start = 1; ; start += 1) {
      try {
        return await engine.payer.buy(purchase)
      } catch (error) {
        const waitMs = paceWaitMs(error)
        if (waitMs === undefined || start >= mostStarts || signal.aborted) throw error
        await pause(waitMs, signal)
      }
    }
  }

  return {
    id: run.id,
    connector: callConnector,
    prepare: engine.prepare,
    buy,
    async read(operation, request, name) {
      const key = `${operation}|${name}` as LookupKey
      const reading = { key, operation, request, reason: 'read by the command of an action' }
      await holdLookup(database.db, reading, { id: run.id, connector: callConnector })
      const prepared = engine.prepare(operation, request)
      // The ledger keeps the answer without its secrets, and a comparison needs them.
      let whole: Record<string, unknown> | null = null
      const decode: PaidRequest['decode'] = (body) => {
        const fact = prepared.decode(body)
        if (fact.outcome === 'found') whole = JSON.parse(body) as Record<string, unknown>
        return fact
      }
      const { outcome, data } = await buy(key, { ...prepared, decode }, request)
      if (outcome === 'unreadable')
        throw new RetriableError(
          'unreadable',
          `the answer of ${operation} cannot be read: ${String(data?.['problem'])}`,
        )
      return whole
    },
    async close(state) {
      await maintenance.stop()
      await runs.setState(run.id, state)
    },
  }
}

const mostStarts = 20
const longestWaitMs = 60_000

/** Returns how long to wait for the pace; undefined for any other error, and for a wait that is too long to sit through. */
function paceWaitMs(error: unknown): number | undefined {
  const isPace =
    error instanceof RetriableError &&
    (error.code === errorCode.rateLimited || error.code === errorCode.paced) &&
    (error.retryAfterMs ?? 0) <= longestWaitMs
  return isPace ? Math.max(50, error.retryAfterMs ?? 1_000) : undefined
}
