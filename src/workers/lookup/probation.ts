import { AccessRefusedError, OperationStoppedError, RetriableError } from '../../domain/errors.ts'
import { errorCode } from '../../domain/error-codes.ts'
import type { LookupKey } from '../../domain/keys.ts'
import type { StoredAnswer } from '../../domain/ports/charge-journal.ts'
import type { LookupRequest } from '../../domain/record.ts'
import type { Operation } from '../../domain/words.ts'
import type { Probe } from '../../store/contract/operation-probes.ts'
import type { OperationPart, OperationPlace, OperationState } from '../../store/contract/operation-states.ts'
import { refusedReason, stopReason } from './stop-reason.ts'

/** An operation at its address, and the time that one request of it takes at most. */
export interface ProbationPlace extends OperationPlace {
  timeoutMs: number
}

export interface ProbationOptions {
  store: {
    take(place: OperationPlace, probe: Taking): Promise<Probe>
    release(place: OperationPlace, key: LookupKey): Promise<void>
    confirm(place: OperationPlace): Promise<void>
    stop(place: OperationPlace, cause: Cause): Promise<void>
    states(): Promise<OperationState[]>
  }
  /** Returns undefined for a request whose address the service's description shows, and that no setting has changed. */
  placeOf: (operation: Operation, part: OperationPart, request: LookupRequest) => ProbationPlace | undefined
  now: () => Date
  /** Called once by the process whose request has stopped an operation. */
  onStopped: (place: OperationPlace, reason: string) => void
}

interface Taking {
  key: LookupKey
  until: Date
  now: Date
  /** Stored where the last holder of the probe was killed with an unreadable answer. */
  unreadable: Cause
}

interface Cause {
  code: string
  reason: string
}

/** A request that is about to be sent. */
interface ProbationTarget {
  operation: Operation
  part: OperationPart
  request: LookupRequest
  key: LookupKey
}

interface Busy {
  sinceMs: number
  /** Until then no other lookup asks the ledger who has the only request. */
  askAgainMs: number
  /**
   * The lookup that has it, as far as the ledger has said. It never waits for others: after a kill it comes among those that wait,
   * each time at the same place behind one that has just asked.
   */
  holder: LookupKey | undefined
}

type Answer = Pick<StoredAnswer, 'outcome' | 'parts' | 'startedAs'>

export interface Probation {
  /**
   * Performs a request: `confirmed` where an answer was read before or the description shows the operation, else `single`,
   * which is then the only one of its operation in all processes. Throws OperationStoppedError for a stopped operation, without a
   * request, and when this answer stops it; and RetriableError, which counts as no try, while another request is the only one.
   */
  guard(
    target: ProbationTarget,
    requests: { single: () => Promise<Answer>; confirmed: () => Promise<void> },
  ): Promise<void>
  /** Returns true for an operation whose batches, or the answers to them, cannot be had. */
  hasNoBatches(operation: Operation): Promise<boolean>
}

/** The time for which batches are formed by what was known of their operation. */
const recallMs = 2_000
/** Another process ends its only request without telling this one. */
const askHolderMs = 500
/** The time that a request may take beside the two exchanges of a first payment: for the pace, and the ledger. */
const besideMs = 60_000
const longestWaitMs = 5_000
const shortestWaitMs = 100

/**
 * Holds an operation that no answer has confirmed to one request at a time, until one was read as expected
 * (docs/decisions/0026-probation.md). Confirmed operations are known in memory, and cost no query.
 *
 *     unknown ──take──▶ one request ──read as expected──▶ confirmed
 *        ▲                 │  └──unreadable, 401, 403, 404──▶ stopped ──a person──▶ unknown
 *        └──anything else──┘
 *
 * Crash windows. The probe is a row in the ledger with the name of its lookup and a time.
 *
 * - Killed before `take` commits: nothing is held and nothing was sent.
 * - Killed while the request is under way: the probe is held until its time is over, and after that for as long as its payment
 *   is open and its lookup is worked on. The lookup itself takes it again at once, and finishes the same payment.
 * - Killed after the answer is stored and before the state is: whoever takes the probe next reads the holder's answer in the ledger,
 *   and confirms or stops by it, so that no second unreadable answer is paid for.
 * - Killed after the state is stored: nothing is left to do. A lookup whose refusal has stopped its operation is still due, and is parked by
 *   the next process without a request.
 */
export function createProbation(options: ProbationOptions): Probation {
  const { store, now } = options
  const confirmed = new Set<string>()
  const stopped = new Set<string>()
  const busy = new Map<string, Busy>()
  let states: { found: Promise<OperationState[]>; untilMs: number } | undefined

  async function guard(
    { operation, part, request, key }: ProbationTarget,
    requests: { single: () => Promise<Answer>; confirmed: () => Promise<void> },
  ): Promise<void> {
    const place = options.placeOf(operation, part, request)
    if (!place) return requests.confirmed()
    const name = `${operation} ${part} ${place.place}`
    if (confirmed.has(name)) return requests.confirmed()
    const nowMs = now().getTime()
    if (stopped.has(name)) {
      // Read again for each lookup: one that is parked after a person has let the operation go on would stay parked.
      const known = (await store.states()).find((each) => isOf(each, place))
      if (known?.state === 'stopped') throw stoppedError(place, known)
      stopped.delete(name)
    }
    const held = busy.get(name)
    if (held && held.holder !== key && held.askAgainMs > nowMs) throw waiting(operation, nowMs - held.sinceMs)
    const sinceMs = held?.sinceMs ?? nowMs
    let found: Busy | undefined
    busy.set(name, { sinceMs, askAgainMs: Infinity, holder: held?.holder })
    try {
      const probe = await take(place, key)
      if (probe === 'taken') return await askAlone(name, place, key, requests.single)
      if (probe.state === 'busy') {
        found = { sinceMs, askAgainMs: nowMs + askHolderMs, holder: probe.holder }
        throw waiting(operation, nowMs - sinceMs)
      }
      if (probe.state === 'stopped') {
        stopped.add(name)
        throw stoppedError(place, probe)
      }
      confirmed.add(name)
    } finally {
      if (found) busy.set(name, found)
      else busy.delete(name)
    }
    return requests.confirmed()
  }

  function take(place: ProbationPlace, key: LookupKey): Promise<Probe> {
    const at = now()
    const until = new Date(at.getTime() + 2 * place.timeoutMs + besideMs)
    return store.take(place, { key, until, now: at, unreadable: unreadable(place) })
  }

  async function askAlone(
    name: string,
    place: ProbationPlace,
    key: LookupKey,
    single: () => Promise<Answer>,
  ): Promise<void> {
    let answer: Answer
    try {
      answer = await single()
    } catch (error) {
      // A 404 that says in the service's own words that a named thing is not there comes as another error, and stops nothing.
      if (error instanceof AccessRefusedError) throw await stop(name, place, refused(place, error))
      await store.release(place, key).catch(() => {})
      throw error
    }
    // The answer is in the ledger. Where its meaning cannot be stored now, the next one reads it from there.
    const reading = readingOf(answer)
    if (reading === 'read') {
      confirmed.add(name)
      await store.confirm(place).catch(() => {})
    } else if (reading === 'unreadable') {
      await stop(name, place, unreadable(place))
    } else await store.release(place, key).catch(() => {})
  }

  async function stop(name: string, place: OperationPlace, cause: Cause): Promise<OperationStoppedError> {
    await store.stop(place, cause).catch(() => {})
    stopped.add(name)
    options.onStopped(place, cause.reason)
    return stoppedError(place, cause)
  }

  return {
    guard,

    async hasNoBatches(operation) {
      const nowMs = now().getTime()
      if (!states || states.untilMs <= nowMs) {
        states = { found: store.states(), untilMs: nowMs + recallMs }
        states.found.catch(() => (states = undefined))
      }
      return (await states.found).some(
        (each) =>
          each.operation === operation &&
          each.part !== '' &&
          each.state === 'stopped' &&
          (each.place ?? '') === (options.placeOf(operation, each.part, {})?.place ?? ''),
      )
    },
  }
}

/** Says of an answer that was stored whether it was read as expected. Undefined for one that says neither. */
function readingOf({ outcome, parts, startedAs }: Answer): 'read' | 'unreadable' | undefined {
  if (startedAs) return 'read'
  if (parts) return [...parts.values()].some((part) => isRead(part.outcome)) ? 'read' : 'unreadable'
  if (isRead(outcome)) return 'read'
  return outcome === 'unreadable' ? 'unreadable' : undefined
}

function isRead(outcome: Answer['outcome']): boolean {
  return outcome === 'found' || outcome === 'not_found'
}

/** The wait grows with the time that the other request has taken, so that many waiting lookups are not started all the time. */
function waiting(operation: Operation, sinceMs: number): RetriableError {
  const retryAfterMs = Math.min(longestWaitMs, Math.max(shortestWaitMs, sinceMs))
  return new RetriableError(errorCode.onProbation, `waits for the first answer of ${operation}`, {
    countsAsTry: false,
    retryAfterMs,
  })
}

function isOf({ operation, part, place }: OperationState, here: OperationPlace): boolean {
  return operation === here.operation && part === here.part && (place ?? here.place) === here.place
}

function stoppedError(place: OperationPlace, { reason }: { reason: string | null }): OperationStoppedError {
  return new OperationStoppedError(
    errorCode.operationStopped,
    reason ?? stopReason(place, 'an earlier answer could not be used'),
  )
}

function unreadable(place: OperationPlace): Cause {
  return {
    code: 'unreadable',
    reason: stopReason(place, 'its first answer could not be read as expected; the answer is in the ledger'),
  }
}

function refused(place: OperationPlace, error: AccessRefusedError): Cause {
  return { code: error.code, reason: refusedReason(place, error) }
}
