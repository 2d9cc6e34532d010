import { ConfigError, InputError } from '../../domain/errors.ts'
import { lookupKey } from '../../domain/keys.ts'
import { otherPath } from '../../service/calls/prepare-call.ts'
import { withoutRequestSecrets } from '../../service/calls/without-secrets.ts'
import { permitAgain } from '../../store/actions/action-outcomes.ts'
import { actionsOf, journalIntent, type ServiceAction } from '../../store/contract/service-actions.ts'
import type { RunState } from '../../store/database/tables/states.ts'
import { chargesOfRunAnd } from '../../store/views/record-lookups.ts'
import { pause } from '../../timing/pause.ts'
import type { Context } from '../context/context.ts'
import { ownCharges } from '../service/own-charges.ts'
import type { PlannedCall } from '../service/plan-call.ts'
import { makesSomething, nameOf } from './action-advice.ts'
import {
  current,
  doubtful,
  endByAnswer,
  endByReading,
  endOf,
  withCharges,
  type ActionEnd,
  type Stage,
} from './action-end.ts'
import { openActionRun } from './action-run.ts'
import { hasReading, readEffect } from './read-effect.ts'
import { sendAction } from './send-action.ts'
import { utcMinute } from '../../domain/values/utc-minute.ts'

export interface ActionOptions {
  /** Sends another one although the same was done, or may have been done. */
  again?: boolean
  signal?: AbortSignal
  /** The time after its sending in which a request may still be processed; by default its time-out and five seconds. */
  settleMs?: number
  /** Called before a wait, with its end. */
  onWait?: (until: Date) => void
}

/**
 * Carries an action out: a change at the service, which knows no idempotency. What is sent twice is done twice.
 *
 * Crash windows. Killed
 * - before the intent is journaled: nothing is there. The same call begins.
 * - after the intent, before it is marked as sent: no byte has left, because `sent` is durable first. The same call sends it.
 * - after `sent`, before the first byte: it looks as if it had been sent. It is read, found absent, and sent once more.
 * - after the first byte, before the answer: the service may do it now, later, or never. The same call waits out the time in which
 *   it may still be processed and reads. Found: done, and nothing is sent. Absent: the charge is closed and the permission to send
 *   given back in one transaction. Neither: it stays in doubt until `again`.
 * - after the answer, before it is stored: as above.
 * - after answer and charge are stored, before the action is done: the answer in the ledger ends it.
 * - between the two transactions of a repeat (`permitAgain`, then `markActionSent`): the permission is there, nothing has left.
 *
 * A broken connection is the same as a kill, and so is an error of the server, who may have failed after the change. Of two
 * processes with the same call one takes the permission; the other waits, and reads. No worker sends an action, and neither does
 * a person's verdict on its charge.
 */
export async function performAction(
  context: Context,
  call: PlannedCall,
  options: ActionOptions = {},
): Promise<ActionEnd> {
  assertByKey(context, call)
  const last = (await actionsOf(context.database.db, call.operation, digestOf(call))).at(-1)
  refuseDone(last, call, options)
  const { signal = new AbortController().signal, settleMs } = options
  const run = await openActionRun(context, call, signal)
  let end: ActionEnd | undefined
  try {
    const { db } = context.database
    const chargesOf = await ownCharges(async () => {
      const actions = await actionsOf(db, call.operation, digestOf(call))
      return chargesOfRunAnd(
        db,
        run.id,
        actions.map(({ lookupKey: key }) => key),
      )
    })
    end = await carryOut({ context, run, call, signal, settleMs, chargesOf }, last, options)
    return end
  } finally {
    await run.close(end ? runStates[end.state] : 'finished')
  }
}

/** A payment's bytes may have to be sent again, which would repeat the action. */
function assertByKey({ config }: Context, { operation }: PlannedCall): void {
  if (config.apiKey) return
  throw new ConfigError(
    'needs_api_key',
    `${operation} changes a workspace, which an API key names: set PAYDIRT_API_KEY`,
  )
}

/** Throws InputError for the same thing once more, unless that is the intention. */
function refuseDone(
  last: ServiceAction | undefined,
  call: PlannedCall,
  { again = false }: ActionOptions,
): void {
  if (again || last?.state !== 'done' || last.answer === null || !makesSomething(call.operation)) return
  throw new InputError(
    'action_done',
    `${call.operation} was done on ${utcMinute(last.endedAt ?? last.createdAt)}${nameOf(last)}: --again makes another one`,
  )
}

async function carryOut(
  stage: Stage,
  last: ServiceAction | undefined,
  { again = false, onWait }: ActionOptions,
): Promise<ActionEnd> {
  const { signal } = stage
  let action = !last || last.state === 'done' ? await begin(stage, (last?.place ?? 0) + 1) : last
  // First of all the earlier one is finished where a reading can: an order to repeat is for one more, not two.
  let taken = 0
  let mayRepeat = again && action === last
  for (;;) {
    if (signal.aborted) return { state: 'interrupted', ...(await withCharges(stage, action)) }
    if (action.state === 'done') return endOf(stage, action)
    if (action.state === 'intent') {
      const end = await sendAction(stage, action)
      if (end !== 'taken') return end
      taken += 1
      if (taken > mostTaken)
        return {
          state: 'parked',
          reason: 'another process is about to send it, or its charge is open (`paydirt reconcile`)',
          until: null,
          wasRefused: false,
          ...(await withCharges(stage, action)),
        }
      await pause(takenPauseMs, signal)
    } else {
      const end = await finish(stage, action, onWait)
      if (end && (end.state !== 'in_doubt' || !mayRepeat)) return end
      if (end) {
        mayRepeat = false
        action = await begin(stage, action.place + 1)
        continue
      }
    }
    action = await current(stage, action)
  }
}

/** Finishes an action that was sent. Returns undefined after a wait, and when it may be sent once more. */
async function finish(
  stage: Stage,
  action: ServiceAction,
  onWait: ActionOptions['onWait'],
): Promise<ActionEnd | undefined> {
  const { context, call } = stage
  const known = await endByAnswer(stage, action)
  if (known) return known
  if (!hasReading(call.operation)) return doubtful(stage, action, action.problem ?? 'it was not answered')
  // A reading that began before this may have missed what is done after it.
  const until = settledAt(stage, action)
  const isSettled = context.now() >= until
  const effect = await readEffect({ ...stage, action })
  if (effect.kind === 'there') return endByReading(stage, action, effect.found, { isSentNow: false })
  if (!isSettled) {
    onWait?.(until)
    await untilMoved(stage, action, until)
    return undefined
  }
  if (effect.kind === 'unsure') return doubtful(stage, action, effect.reason)
  const problem = `it was sent and not carried out: ${effect.reason}`
  await permitAgain(context.database.db, action, { problem, at: context.now() })
  return undefined
}

/** Waits until a time, or until another process has moved the action. */
async function untilMoved(stage: Stage, action: ServiceAction, until: Date): Promise<void> {
  const { context, signal } = stage
  for (;;) {
    const leftMs = until.getTime() - context.now().getTime()
    if (leftMs <= 0 || signal.aborted) return
    await pause(Math.min(leftMs, lookEveryMs), signal)
    if ((await current(stage, action)).state !== action.state) return
  }
}

function begin({ context, run, call }: Stage, place: number): Promise<ServiceAction> {
  const { operation, contract, request } = call
  const { [otherPath]: path, ...body } = request
  return journalIntent(
    context.database.db,
    {
      operation,
      digest: digestOf(call),
      place,
      method: contract.method.value,
      path: typeof path === 'string' ? path : contract.path.value,
      body: withoutRequestSecrets(body),
      lookupKey: lookupKey(operation, `v1:${digestOf(call)}|${place}`),
    },
    run,
    context.now(),
  )
}

function settledAt({ call, settleMs }: Stage, { sentAt, createdAt }: ServiceAction): Date {
  return new Date((sentAt ?? createdAt).getTime() + (settleMs ?? call.contract.timeoutMs + settleMarginMs))
}

/** The key of a planned call ends in the number of the repeat, which is counted here. */
function digestOf({ key }: PlannedCall): string {
  return /v1:([0-9a-f]{64})/.exec(key)?.[1] ?? key
}

const takenPauseMs = 200
const lookEveryMs = 500
const mostTaken = 150
/** A request that is given up after its time-out may have been on its way for a moment more. */
export const settleMarginMs = 5_000

const runStates: Readonly<Record<ActionEnd['state'], RunState>> = {
  done: 'finished',
  refused: 'finished',
  in_doubt: 'parked',
  parked: 'parked',
  interrupted: 'stopped',
}
