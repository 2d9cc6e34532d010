import { stopCodes } from '../../domain/error-codes.ts'
import {
  BudgetExhaustedError,
  ConfigError,
  FatalError,
  InputError,
  PaydirtError,
  PolicyDeniedError,
  RetriableError,
} from '../../domain/errors.ts'
import { lookupKey } from '../../domain/keys.ts'
import type { Fact, LookupRequest } from '../../domain/record.ts'
import type { RunState } from '../../store/database/states.ts'
import type { PaidRequest } from '../../pay/purchase.ts'
import { otherPath } from '../../service/calls/prepare-call.ts'
import { textWithoutSecrets, withoutRequestSecrets } from '../../service/calls/without-secrets.ts'
import { endAsCarriedOut, permitAgain } from '../../store/actions/action-outcomes.ts'
import {
  actionsOf,
  endAction,
  holdLookup,
  journalIntent,
  markActionSent,
  markInDoubt,
  returnToIntent,
  type ServiceAction,
} from '../../store/contract/service-actions.ts'
import { lookupsWithCharges, type RecordLookup } from '../../store/views/record-lookups.ts'
import { pause } from '../../timing/pause.ts'
import type { Context } from '../context/context.ts'
import type { PlannedCall } from '../service/plan-call.ts'
import { adviceFor, makesSomething, nameOf } from './action-advice.ts'
import { openActionRun, type ActionRun } from './action-run.ts'
import { hasReading, readEffect } from './read-effect.ts'

export interface ActionOptions {
  /** Sends another one although the same was done, or may have been done. */
  again?: boolean
  signal?: AbortSignal
  /** How long after it was sent a request may still be processed; by default its time-out and five seconds. */
  settleMs?: number
  /** Called before a wait, with its end. */
  onWait?: (until: Date) => void
}

type Charges = RecordLookup['charges']

export type ActionEnd = { action: ServiceAction; charges: Charges } & (
  | { state: 'done'; fact: Fact; by: 'answer' | 'reading' }
  /** The service refused it, and did nothing. */
  | { state: 'refused'; reason: string }
  /** It was sent, and nobody can tell whether it was carried out. `again` finishes it where a reading can. */
  | { state: 'in_doubt'; reason: string; advice: string }
  /** Nothing was sent. */
  | { state: 'parked'; reason: string; until: Date | null }
  | { state: 'interrupted' }
)

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
    end = await carryOut({ context, run, call, signal, settleMs }, last, options)
    return end
  } finally {
    await run.close(end ? runStates[end.state] : 'finished')
  }
}

interface Stage {
  context: Context
  run: ActionRun
  call: PlannedCall
  signal: AbortSignal
  settleMs: number | undefined
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
    `${call.operation} was done on ${(last.endedAt ?? last.createdAt).toISOString()}${nameOf(last)}: --again makes another one`,
  )
}

async function carryOut(
  stage: Stage,
  last: ServiceAction | undefined,
  { again = false, onWait }: ActionOptions,
): Promise<ActionEnd> {
  const { context, call, signal } = stage
  const isOver = !last || last.state === 'done' || (again && last.state !== 'intent')
  let action = isOver ? await begin(stage, (last?.place ?? 0) + 1) : last
  for (;;) {
    if (signal.aborted) return { state: 'interrupted', ...(await withCharges(stage, action)) }
    if (action.state === 'done') return endOf(stage, action)
    if (action.state === 'intent') {
      const end = await send(stage, action)
      if (end !== 'taken') return end
      await pause(takenPauseMs, signal)
    } else {
      const known = await endByAnswer(stage, action)
      if (known) return known
      if (!hasReading(call.operation)) return doubtful(stage, action, action.problem ?? 'it was not answered')
      // A reading that began before this may have missed what is done after it.
      const until = settledAt(stage, action)
      const isSettled = context.now() >= until
      const effect = await readEffect({ ...stage, action })
      if (effect.kind === 'there') return endByReading(stage, action, effect.found)
      if (isSettled && effect.kind === 'unsure') return doubtful(stage, action, effect.reason)
      if (isSettled) {
        const problem = `it was sent and not carried out: ${effect.reason}`
        await permitAgain(context.database.db, action, { problem, at: context.now() })
      } else {
        onWait?.(until)
        await pause(until.getTime() - context.now().getTime(), signal)
      }
    }
    action = await current(stage, action)
  }
}

/** Sends an action with its permission. Returns `taken` when another process sends it. */
async function send(stage: Stage, action: ServiceAction): Promise<ActionEnd | 'taken'> {
  const { context, run, call } = stage
  const { db } = context.database
  try {
    await holdLookup(
      db,
      {
        key: action.lookupKey,
        operation: call.operation,
        request: requestOf(action),
        reason: 'sent by its command',
      },
      run,
    )
    const fact = await run.buy(action.lookupKey, requestFor(stage, action))
    if (fact.outcome === 'unreadable') return doubtAfter(stage, action, 'its answer cannot be read')
    return endByFact(stage, action, fact)
  } catch (error) {
    if (!(error instanceof PaydirtError)) throw error
    if (error.code === takenCode || error.code === 'ended_meanwhile') return 'taken'
    return afterError(stage, action, error)
  }
}

/** Returns the request with the journal in front of it, and without its secrets for the ledger. */
function requestFor({ context, run, call }: Stage, action: ServiceAction): PaidRequest {
  const prepared = run.prepare(call.operation, call.request as LookupRequest)
  const clean = (text: string) => textWithoutSecrets(text, call.request)
  return {
    ...prepared,
    keptBody: prepared.body === '' ? '' : JSON.stringify(withoutRequestSecrets(JSON.parse(prepared.body))),
    decode(body) {
      const fact = prepared.decode(body)
      return fact.outcome === 'unreadable' ? { ...fact, data: { ...fact.data, raw: clean(body) } } : fact
    },
    async beforeSend() {
      if (await markActionSent(context.database.db, action.id, context.now())) return
      throw new RetriableError(takenCode, 'another process sends this action')
    },
  }
}

/** Decides by the error whether anything was done. What is not certain is in doubt. */
async function afterError(stage: Stage, action: ServiceAction, error: PaydirtError): Promise<ActionEnd> {
  const { context } = stage
  const { db } = context.database
  const now = await current(stage, action)
  const status = Number(error.details['status'] ?? 0)
  // The gateway's 408 says nothing about the request behind it.
  const isRefused = status >= 400 && status <= 499 && status !== 408
  if (now.state === 'sent' && !isRefused && !notSentCodes.includes(error.code))
    return doubtAfter(stage, now, error.message)
  if (now.state === 'done') return endOf(stage, now)
  if (isRefused && error instanceof FatalError) {
    await endAction(db, action.id, { answer: null, problem: error.message, at: context.now() })
    await context.lookups.fail(action.lookupKey, error.message)
    return { state: 'refused', reason: error.message, ...(await withCharges(stage, action)) }
  }
  if (now.state === 'sent') await returnToIntent(db, now, error.message)
  if (error instanceof ConfigError || error instanceof PolicyDeniedError) throw error
  const until = error instanceof BudgetExhaustedError ? (error.resumesAt ?? null) : null
  return { state: 'parked', reason: error.message, until, ...(await withCharges(stage, action)) }
}

/** Reads at once what became of it: often it was done, and only the answer is missing. */
async function doubtAfter(stage: Stage, action: ServiceAction, problem: string): Promise<ActionEnd> {
  await markInDoubt(stage.context.database.db, action.id, problem)
  const doubted = await current(stage, action)
  if (!hasReading(stage.call.operation)) return doubtful(stage, doubted, problem)
  const effect = await readEffect({ ...stage, action: doubted })
  if (effect.kind === 'there') return endByReading(stage, doubted, effect.found)
  return doubtful(stage, doubted, `${problem}; ${effect.reason}`)
}

async function doubtful(stage: Stage, action: ServiceAction, reason: string): Promise<ActionEnd> {
  await markInDoubt(stage.context.database.db, action.id, reason)
  const doubted = await current(stage, action)
  if (doubted.state === 'done') return endOf(stage, doubted)
  return { state: 'in_doubt', reason, advice: adviceFor(doubted), ...(await withCharges(stage, doubted)) }
}

/** Crash window: answer and charge were stored, and the process died before the action was done. */
async function endByAnswer(stage: Stage, action: ServiceAction): Promise<ActionEnd | undefined> {
  const fact = (await stage.context.lookups.facts([action.lookupKey])).get(action.lookupKey)
  return fact?.outcome === 'found' || fact?.outcome === 'not_found'
    ? endByFact(stage, action, fact)
    : undefined
}

async function endByFact(stage: Stage, action: ServiceAction, fact: Fact): Promise<ActionEnd> {
  const { context } = stage
  await endAction(context.database.db, action.id, {
    answer: fact.data ?? {},
    problem: null,
    at: context.now(),
  })
  return { state: 'done', fact, by: 'answer', ...(await withCharges(stage, action)) }
}

async function endByReading(
  stage: Stage,
  action: ServiceAction,
  found: Record<string, unknown>,
): Promise<ActionEnd> {
  await endAsCarriedOut(stage.context.database.db, action, { found, at: stage.context.now() })
  const fact: Fact = { outcome: 'found', data: found }
  return { state: 'done', fact, by: 'reading', ...(await withCharges(stage, action)) }
}

/** Another process has ended it. */
async function endOf(stage: Stage, action: ServiceAction): Promise<ActionEnd> {
  const rest = await withCharges(stage, action)
  return action.answer === null
    ? { state: 'refused', reason: action.problem ?? 'it was refused', ...rest }
    : { state: 'done', fact: { outcome: 'found', data: action.answer }, by: 'answer', ...rest }
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

async function current(
  { context }: Stage,
  { operation, digest, place }: ServiceAction,
): Promise<ServiceAction> {
  const rows = await actionsOf(context.database.db, operation, digest)
  return rows.find((each) => each.place === place)!
}

async function withCharges({ context }: Stage, action: ServiceAction) {
  const [lookup] = await lookupsWithCharges(context.database.db, [action.lookupKey])
  return { action, charges: lookup?.charges ?? [] }
}

function settledAt({ call, settleMs }: Stage, { sentAt, createdAt }: ServiceAction): Date {
  return new Date((sentAt ?? createdAt).getTime() + (settleMs ?? call.contract.timeoutMs + settleMarginMs))
}

/** The key of a planned call ends in the number of the repeat, which is counted here. */
function digestOf({ key }: PlannedCall): string {
  return /v1:([0-9a-f]{64})/.exec(key)?.[1] ?? key
}

const requestOf = ({ body }: ServiceAction) => body as LookupRequest

const takenCode = 'action_taken'
/** Thrown after the permission was taken, and before a byte has left. */
const notSentCodes: readonly string[] = [...stopCodes, 'charge_closed']
const takenPauseMs = 200
/** A request that is given up after its time-out may have been on its way for a moment more. */
const settleMarginMs = 5_000

const runStates: Readonly<Record<ActionEnd['state'], RunState>> = {
  done: 'finished',
  refused: 'finished',
  in_doubt: 'parked',
  parked: 'parked',
  interrupted: 'stopped',
}
