import {
  BudgetExhaustedError,
  ConfigError,
  FatalError,
  OperationStoppedError,
  PaydirtError,
  PaymentInDoubtError,
  PolicyDeniedError,
  RetriableError,
  describeUnexpected,
} from '../../domain/errors.ts'
import { isBatchKey, type LookupKey } from '../../domain/keys.ts'
import type { Lane } from '../../domain/ports/send-permit.ts'
import type { Fact, LookupRequest } from '../../domain/record.ts'
import type { Identifier } from '../../domain/subjects/identifiers.ts'
import type { PriceTable } from '../../domain/planning/step.ts'
import { isFreeOperation, operationRow } from '../../domain/operations.ts'
import type { Operation } from '../../domain/words.ts'
import type { Payer } from '../../pay/payer.ts'
import type { Purchase } from '../../pay/purchase.ts'
import type { PreparedBatch } from '../../service/batch.ts'
import { isAway } from '../../store/database/retry-while-away.ts'
import type { BatchLedger } from '../../store/ledger/batches.ts'
import type { Outcome } from '../../queues/working.ts'
import type { LookupLedger, LookupRow } from '../../store/ledger/lookups.ts'
import type { RunLedger } from '../../store/runs/runs.ts'
import type { Advance } from '../../planning/advance.ts'
import type { AccessWatch } from './access-watch.ts'
import type { Probation } from './probation.ts'
import type { createPollAnswer } from './poll-answer.ts'
import { batchRequest } from './batch-request.ts'
import { endpointOf, partOf, type Asked } from './lookup-request.ts'
import { isSuppressed, readAhead, type ReadAhead } from './read-ahead.ts'
import { createParkStopped } from './park-stopped.ts'
import { limitOf } from './spent-limit.ts'
import { errorCode } from '../../domain/error-codes.ts'
import { addLogFields } from '../../timing/log-scope.ts'

type PollAnswer = ReturnType<typeof createPollAnswer>

export interface LookUpOptions {
  lookups: LookupLedger
  runs: Pick<RunLedger, 'countRequests'>
  payer: Payer
  advance: Advance
  batches: Pick<BatchLedger, 'members'>
  prepare: (operation: Operation, request: LookupRequest) => Purchase['request']
  /** Prepares a request from the stored body of a batch. */
  prepareBulk: (operation: Operation, request: LookupRequest) => PreparedBatch
  /** Asks for the answer of a request that was started and paid for. */
  pollAnswer: PollAnswer
  /** Returns the indexes of the suppressed subjects. */
  suppressed: (subjects: () => readonly (readonly Identifier[])[]) => Promise<ReadonlySet<number>>
  /** Performs a free lookup, which takes no charge. */
  fetchFree: (operation: Operation, request: LookupRequest) => Promise<Fact>
  freshUntil: (operation: Operation, outcome: Fact['outcome'], now: Date) => Date
  /** The most that each step costs. */
  prices: PriceTable
  now: () => Date
  random: () => number
  /** Shared by all workers of a process: the lookups of one show what a refusal of another means. */
  access: AccessWatch
  /** Shared in the same way: holds operations that no answer has confirmed to one request. */
  probation: Pick<Probation, 'guard'>
  /** Called when a person must mend something before anything more is tried. */
  onHalt: (error: ConfigError) => void
  /** Called with an error that no code expected. */
  onUnexpected: (failure: { operation: Operation; tries: number; problem: string }) => void
}

const maxTries = 6
/**
 * The most times that a job may start over for something that counts as no try. From then on it counts, so
 * that a lookup that comes back each time ends in a state with a reason. Waiting for the pace is not limited here: it sends
 * nothing.
 */
const freeStarts = 30
const longestFreeWaitMs = 5_000
const recheckMs = 5 * 60_000
/** A refusal of up to this length is waited for in the queue; a longer one parks the lookup. */
const longestPacedMs = 5 * 60_000
/** The pacer sends one trial in this time, however long the service asks to wait. */
const retryRefusedMs = 10 * 60_000
/** A free lookup that may be asked again only after a longer time is given up: paid answers are not held back for it. */
const longestFreeLookupMs = 30_000

/**
 * Performs one lookup, however many tasks wait for it, and stores in the ledger what happens next. Nothing is left to the
 * queue's own retries: the class of an error decides (see domain/errors.ts).
 */
export function createLookUp(options: LookUpOptions) {
  const { lookups, now } = options
  const parkStopped = createParkStopped(options)

  /** `starts` counts how often the lookup's job was started, this time included. */
  return async function lookUp(lane: Lane, key: LookupKey, starts: number): Promise<Outcome> {
    const ahead = lane === 'hot' && !isBatchKey(key) ? readAhead(key, options) : {}
    const lookup = await lookups.get(key)
    if (!lookup || lookup.state === 'parked' || lookup.batchKey) return
    addLogFields({ runId: lookup.runId })
    // A free lookup completes what was paid for, also when nothing more may be bought.
    if (lookup.runStopped && !isFreeOperation(lookup.operation)) return
    if (lookup.state === 'waiting') {
      try {
        await perform(lookup, lane, ahead)
      } catch (error) {
        const outcome = await handleFailure(lookup, lane, starts, error)
        if (outcome !== 'ended') return outcome
      }
    }
    const ended = isBatchKey(key) ? (await options.batches.members(key)).map((member) => member.key) : [key]
    await options.advance.advanceTasksWaitingFor(ended)
  }

  async function perform(lookup: LookupRow, lane: Lane, ahead: ReadAhead): Promise<void> {
    await refuseSuppressed(lookup, ahead)
    const { key, operation, request } = lookup
    await options.probation.guard(
      { key, operation, request, part: partOf(lookup) },
      {
        single: () => ask(lookup, lane, ahead),
        confirmed: () => options.access.watch(endpointOf(lookup), key, () => ask(lookup, lane, ahead)),
      },
    )
  }

  async function ask(lookup: LookupRow, lane: Lane, ahead: ReadAhead): Promise<Asked> {
    const { key, operation, request, runId, connector, queryId } = lookup
    // A worker cannot know whether it was sent before and carried out.
    if (operationRow(operation).kind === 'action')
      throw new PolicyDeniedError('action', `${operation} is sent only by the command that orders it`)
    if (isBatchKey(key)) {
      const bulk = options.prepareBulk(operation, request)
      if (queryId) return options.pollAnswer({ key, operation, queryId, lane, bulk })
      const buys = (await options.batches.members(key)).map((member) => member.key)
      const purchase = { key, buys, runId, connector, lane, request: batchRequest(bulk) }
      return options.payer.buy({ ...purchase, onlyFinish: lookup.alone })
    }
    if (!isFreeOperation(operation)) {
      return options.payer.buy({
        key,
        buys: [key],
        runId,
        connector,
        lane,
        request: options.prepare(operation, request),
        readAhead: ahead.earlier,
      })
    }
    const fact = await options.fetchFree(operation, request)
    await lookups.storeFree(key, { ...fact, freshUntil: options.freshUntil(operation, fact.outcome, now()) })
    return fact
  }

  /** Throws FatalError for a subject that was suppressed after its record was read. */
  async function refuseSuppressed({ key, tries }: LookupRow, ahead: ReadAhead): Promise<void> {
    // An earlier try may have been paid for: the lookup is finished, and its answer is not written.
    if (tries > 0 || isBatchKey(key)) return
    if (await (ahead.suppressed ?? isSuppressed(key, options)))
      throw new FatalError('suppressed', 'suppressed')
  }

  async function handleFailure(
    lookup: LookupRow,
    lane: Lane,
    starts: number,
    error: unknown,
  ): Promise<Outcome | 'ended'> {
    const { key, tries } = lookup
    if (!(error instanceof PaydirtError)) return handleUnexpected(lookup, error)
    if (error instanceof OperationStoppedError) return parkStopped(lookup, error)
    if (error instanceof RetriableError && !error.countsAsTry) {
      if (error.code === errorCode.rateLimited)
        await options.runs.countRequests(lookup.runId, { rateLimited: 1 })
      // A hot lookup goes back into the pacer's waiting line at once: the pacer itself delays requests that come too early.
      if (paceCodes.includes(error.code)) {
        const waitMs = error.retryAfterMs ?? (lane === 'hot' ? 0 : 1_000)
        return waitMs > longestPacedMs ? parkRefused(key, waitMs) : { againInMs: Math.max(50, waitMs) }
      }
      if (starts < freeStarts) return { againInMs: freeWaitMs(starts, error.retryAfterMs) }
    }
    if (error instanceof RetriableError) {
      // A wait that was asked for as free may be too short to repeat.
      const askedMs = error.countsAsTry ? error.retryAfterMs : undefined
      const isNotInTime = error.code === errorCode.notInTime
      // The record is complete but for what is free: it is written without it, and asks again when it is enriched again.
      const isFree = isFreeOperation(lookup.operation)
      if (isFree && (askedMs ?? 0) > longestFreeLookupMs) return fail(key, error.message)
      if (tries + 1 < maxTries)
        return wait(
          key,
          Math.min(askedMs ?? backoffMs(isNotInTime ? tries + 1 : tries), recheckMs),
          error.message,
        )
      // Asked for again without an end it would never be done: a person decides when to ask once more.
      if (isNotInTime && !isFree) return park(key, null, error, `${error.message}, ${maxTries} times`)
      // An unreachable service, and one whose challenges belong to other payments, says nothing about the record, so the
      // lookup waits and does not fail. A free lookup fails: answers that were paid for must not wait for it.
      if (isOutage(error) && !isFree) {
        return park(key, after(recheckMs), error)
      }
      return fail(key, `${error.message}, ${maxTries} times`)
    }
    if (error instanceof PaymentInDoubtError) {
      const askAgainInMs = Number(error.details['askAgainInMs'] ?? backoffMs(tries))
      if (tries + 1 < maxTries && askAgainInMs < recheckMs) return wait(key, askAgainInMs, error.message)
      return park(key, after(Math.max(recheckMs, askAgainInMs)), error, `payment in doubt: ${error.message}`)
    }
    // The rest of the budget may pay for some of the lookups, if not for the whole batch.
    if (error instanceof BudgetExhaustedError && error.code !== errorCode.stopped && isBatchKey(key))
      return fail(key, error.message)
    if (error instanceof BudgetExhaustedError) return parkAtLimit(key, error)
    if (error instanceof PolicyDeniedError) return park(key, null, error)
    if (error instanceof ConfigError) {
      await park(key, null, error)
      options.onHalt(error)
      return
    }
    return fail(key, error.message, error.code === errorCode.paidNoData)
  }

  /**
   * An error that no code expected ends the lookup with its reason after some tries. Left to the queue it would come back
   * for ever, unseen. A database that is away says nothing about the lookup, and could not store a state either.
   */
  async function handleUnexpected(
    { key, operation, tries }: LookupRow,
    error: unknown,
  ): Promise<Outcome | 'ended'> {
    const problem = describeUnexpected(error)
    options.onUnexpected({ operation, tries: tries + 1, problem })
    if (isAway(error)) throw error
    const reason = `unexpected error: ${problem}`
    return tries + 1 < maxTries ? wait(key, backoffMs(tries), reason) : fail(key, reason)
  }

  /** A long refusal is shown as parked work, with its reason, and not slept through. */
  async function parkRefused(key: LookupKey, waitMs: number): Promise<void> {
    const reason =
      'the service refuses requests (429) and asks for a wait of more than five minutes; it is asked again every ten minutes'
    await lookups.park(key, after(Math.min(waitMs, retryRefusedMs)), { code: errorCode.rateLimited, reason })
  }

  async function wait(key: LookupKey, ms: number, reason: string): Promise<void> {
    await lookups.postpone(key, after(ms), reason, true)
  }

  async function park(
    key: LookupKey,
    until: Date | null,
    { code, message }: PaydirtError,
    reason = message,
  ): Promise<void> {
    await lookups.park(key, until, { code, reason })
  }

  /** Parks every lookup that costs as much: it does not fit either, and need not wait for the pace of lookups. */
  async function parkAtLimit(key: LookupKey, error: BudgetExhaustedError): Promise<void> {
    const { code, message, resumesAt = null } = error
    await park(key, resumesAt, error)
    const limit = limitOf(error, options.prices)
    if (limit) await lookups.parkRest(key, resumesAt, { code, reason: message }, limit)
  }

  async function fail(key: LookupKey, reason: string, isPaid = false): Promise<'ended'> {
    await lookups.fail(key, reason, isPaid)
    return 'ended'
  }

  /** Returns a wait that doubles from half a second. The jitter keeps lookups with one fault from retrying together. */
  function backoffMs(tries: number): number {
    return Math.min(30_000, 500 * 2 ** tries) * (0.75 + options.random() / 2)
  }

  /** Returns the wait that was asked for, doubled for each start up to five seconds, or longer if more was asked for. */
  function freeWaitMs(starts: number, askedMs = 50): number {
    const doubled = Math.min(longestFreeWaitMs, Math.max(50, askedMs) * 2 ** (starts - 1))
    return Math.max(askedMs, doubled * (0.75 + options.random() / 4))
  }

  function after(ms: number): Date {
    return new Date(now().getTime() + ms)
  }
}

/** The pacer, or the first answer of an operation, decides when these end. */
const paceCodes: readonly string[] = [errorCode.rateLimited, errorCode.paced, errorCode.onProbation]

const outageCodes: readonly string[] = [
  errorCode.unreachable,
  errorCode.timeout,
  errorCode.chainUnreachable,
  errorCode.challengeTaken,
]

function isOutage(error: RetriableError): boolean {
  return outageCodes.includes(error.code)
}
