import { stopCodes } from '../../domain/error-codes.ts'
import {
  BudgetExhaustedError,
  ConfigError,
  FatalError,
  PaymentInDoubtError,
  PaydirtError,
  PolicyDeniedError,
  RetriableError,
} from '../../domain/errors.ts'
import type { LookupRequest } from '../../domain/record.ts'
import type { PaidRequest } from '../../pay/purchase.ts'
import { textWithoutSecrets, withoutRequestSecrets } from '../../service/calls/without-secrets.ts'
import {
  endAction,
  holdLookup,
  markActionSent,
  markInDoubt,
  returnToIntent,
  type ServiceAction,
} from '../../store/contract/service-actions.ts'
import {
  current,
  doubtful,
  endByFact,
  endByReading,
  withCharges,
  type ActionEnd,
  type Stage,
} from './action-end.ts'
import { hasReading, readEffect } from './read-effect.ts'

/** Sends an action with its permission. Returns `taken` when another process has it, or is about to take it. */
export async function sendAction(stage: Stage, action: ServiceAction): Promise<ActionEnd | 'taken'> {
  const { context, run, call } = stage
  const { db } = context.database
  let isOurs = false
  const request = requestFor(stage, async () => {
    isOurs = await markActionSent(db, action.id, context.now())
    if (!isOurs) throw new RetriableError('action_taken', 'another process sends this action')
  })
  try {
    await holdLookup(
      db,
      {
        key: action.lookupKey,
        operation: call.operation,
        request: action.body as LookupRequest,
        reason: 'sent by its command',
      },
      run,
    )
    const fact = await run.buy(action.lookupKey, request, call.request)
    if (!isOurs) return 'taken'
    if (fact.outcome === 'unreadable') return await doubtAfter(stage, action, 'its answer cannot be read')
    return await endByFact(stage, action, fact)
  } catch (error) {
    if (!(error instanceof PaydirtError)) throw error
    return isOurs ? afterSending(stage, action, error) : beforeSending(stage, action, error)
  }
}

/** Returns the request with the journal in front of it, and without its secrets for the ledger. */
function requestFor({ run, call }: Stage, beforeSend: () => Promise<void>): PaidRequest {
  const prepared = run.prepare(call.operation, call.request as LookupRequest)
  const clean = (text: string) => textWithoutSecrets(text, call.request)
  return {
    ...prepared,
    keptBody: prepared.body === '' ? '' : JSON.stringify(withoutRequestSecrets(JSON.parse(prepared.body))),
    decode(body) {
      const fact = prepared.decode(body)
      return fact.outcome === 'unreadable' ? { ...fact, data: { ...fact.data, raw: clean(body) } } : fact
    },
    beforeSend,
  }
}

/** Nothing was sent from here. */
async function beforeSending(
  stage: Stage,
  action: ServiceAction,
  error: PaydirtError,
): Promise<ActionEnd | 'taken'> {
  const isTaken = error instanceof PaymentInDoubtError || takenCodes.includes(error.code)
  if (isTaken || (await current(stage, action)).state !== 'intent') return 'taken'
  return unsent(stage, action, error, { wasRefused: false })
}

/** Decides by the error whether anything was done. What is not certain is in doubt. */
async function afterSending(stage: Stage, action: ServiceAction, error: PaydirtError): Promise<ActionEnd> {
  const { context } = stage
  const { db } = context.database
  const status = Number(error.details['status'] ?? 0)
  // The gateway's 408 says nothing about the request behind it.
  const isRefused = status >= 400 && status <= 499 && status !== 408
  if (!isRefused && !notSentCodes.includes(error.code)) return doubtAfter(stage, action, error.message)
  if (isRefused && error instanceof FatalError) {
    await endAction(db, action.id, { answer: null, problem: error.message, at: context.now() })
    await context.lookups.fail(action.lookupKey, error.message)
    return { state: 'refused', reason: error.message, ...(await withCharges(stage, action)) }
  }
  await returnToIntent(db, await current(stage, action), error.message)
  return unsent(stage, action, error, { wasRefused: isRefused })
}

/** Ends with the permission left for the same call. Throws what a person must mend. */
async function unsent(
  stage: Stage,
  action: ServiceAction,
  error: PaydirtError,
  { wasRefused }: { wasRefused: boolean },
): Promise<ActionEnd> {
  if (error instanceof ConfigError || error instanceof PolicyDeniedError) throw error
  const until = error instanceof BudgetExhaustedError ? (error.resumesAt ?? null) : null
  return { state: 'parked', reason: error.message, until, wasRefused, ...(await withCharges(stage, action)) }
}

/** Reads at once what became of it: often it was done, and only the answer is missing. */
async function doubtAfter(stage: Stage, action: ServiceAction, problem: string): Promise<ActionEnd> {
  await markInDoubt(stage.context.database.db, action.id, problem)
  const doubted = await current(stage, action)
  if (!hasReading(stage.call.operation)) return doubtful(stage, doubted, problem)
  const effect = await readEffect({ ...stage, action: doubted })
  if (effect.kind === 'there') return endByReading(stage, doubted, effect.found, { isSentNow: true })
  return doubtful(stage, doubted, `${problem}; ${effect.reason}`)
}

/** Another process is at the same step, or has passed it. */
const takenCodes: readonly string[] = ['action_taken', 'ended_meanwhile', 'charge_closed']
/** Thrown after the permission was taken, and before a byte has left. */
const notSentCodes: readonly string[] = [...stopCodes, 'charge_closed']
