import { AccessRefusedError, FatalError, RetriableError } from '../../domain/errors.ts'
import type { LookupKey } from '../../domain/keys.ts'

export interface AccessWatch {
  /**
   * Runs a lookup's request to an endpoint. What a refusal of access means is decided by what other lookups of the endpoint
   * get. Throws AccessRefusedError when it is about the account or the endpoint, FatalError when it is about this lookup
   * alone, and RetriableError, which counts as no try, while that is not known.
   */
  watch(endpoint: string, key: LookupKey, request: () => Promise<unknown>): Promise<void>
}

/** A lookup that was refused, and about which nothing is decided yet. */
interface Suspect {
  error: AccessRefusedError
  refusedAtMs: number
  /** The answers of its endpoint when it was refused. */
  answersBefore: number
  looks: number
}

interface Endpoint {
  answers: number
  answeredAtMs: number
  underWay: Set<LookupKey>
  refusedSinceAnswer: Set<LookupKey>
  suspects: Map<LookupKey, Suspect>
}

/** An answer of the last ten minutes shows that account and endpoint are in order. */
const recentMs = 10 * 60_000
/** So many different lookups in a row are refused for a reason that they share, when nothing was answered recently. */
const fewInRow = 3
/** The same after a recent answer, or while other lookups may still be answered. */
const manyInRow = 20
/** The most times that a suspect looks for other answers while no other lookup is under way. Takes 3.5 seconds. */
const mostLooks = 4
/** The longest that it waits for those that are. */
const longestWaitMs = 2 * 60_000
const firstWaitMs = 500
const overQuota = 'over_quota'

/**
 * Decides what a refusal of access is about (docs/decisions/0017-refused-access.md). An edge in front of the service may
 * refuse one request for what it contains, with the same status as a wrong key.
 *
 *     refused ──another lookup of the endpoint is answered──▶ about the lookup: it ends, the others go on
 *        └──no other is answered, or many in a row are refused──▶ about account or endpoint: the run stops
 *
 * Crash window: what is known here is lost with the process, and the next one sends the same bytes once more. A refused
 * payment was stored as in doubt before this is asked. It stays so whatever is decided: the chain closes it, by the resolver
 * when the lookup has ended. While a lookup waits here nothing of it is sent, because a second request by API key could be
 * charged again.
 */
export function createAccessWatch({ now }: { now: () => Date }): AccessWatch {
  const endpoints = new Map<string, Endpoint>()

  async function watch(name: string, key: LookupKey, request: () => Promise<unknown>): Promise<void> {
    const endpoint = endpoints.get(name) ?? unknownEndpoint()
    endpoints.set(name, endpoint)
    const suspect = endpoint.suspects.get(key)
    if (suspect && sinceMs(suspect.refusedAtMs) < recentMs) throw decide(endpoint, key, suspect)
    endpoint.underWay.add(key)
    try {
      await request()
    } catch (thrown) {
      const error = refusalOf(thrown)
      if (!error) throw thrown
      endpoint.refusedSinceAnswer.add(key)
      const refused = { error, refusedAtMs: now().getTime(), answersBefore: endpoint.answers, looks: 0 }
      throw decide(endpoint, key, refused)
    } finally {
      endpoint.underWay.delete(key)
    }
    endpoint.answers += 1
    endpoint.answeredAtMs = now().getTime()
    endpoint.refusedSinceAnswer.clear()
    endpoint.suspects.delete(key)
  }

  function decide(endpoint: Endpoint, key: LookupKey, suspect: Suspect): Error {
    suspect.looks += 1
    const blame = blameFor(endpoint, key, suspect)
    if (blame === 'unknown') {
      endpoint.suspects.set(key, suspect)
      const message = `${suspect.error.message}; waiting for the answers to others`
      return new RetriableError('access_undecided', message, {
        countsAsTry: false,
        retryAfterMs: firstWaitMs,
        details: suspect.error.details,
      })
    }
    endpoint.suspects.delete(key)
    return blame === 'access' ? suspect.error : aboutLookup(suspect.error)
  }

  function blameFor(
    { answers, answeredAtMs, underWay, refusedSinceAnswer }: Endpoint,
    key: LookupKey,
    { answersBefore, refusedAtMs, looks }: Suspect,
  ): 'access' | 'lookup' | 'unknown' {
    if (answers > answersBefore) return 'lookup'
    if (refusedSinceAnswer.size >= manyInRow) return 'access'
    const isAnyUnderWay = underWay.size > (underWay.has(key) ? 1 : 0)
    if (isAnyUnderWay && sinceMs(refusedAtMs) < longestWaitMs) return 'unknown'
    const isAnswered = sinceMs(answeredAtMs) < recentMs
    if (!isAnswered && refusedSinceAnswer.size >= fewInRow) return 'access'
    if (looks < mostLooks) return 'unknown'
    return isAnswered ? 'lookup' : 'access'
  }

  function sinceMs(timeMs: number): number {
    return now().getTime() - timeMs
  }

  return { watch }
}

function unknownEndpoint(): Endpoint {
  return {
    answers: 0,
    answeredAtMs: -Infinity,
    underWay: new Set(),
    refusedSinceAnswer: new Set(),
    suspects: new Map(),
  }
}

/** A lookup has no page beyond a limit: when others are refused as well, it is the account that has no credits left. */
function refusalOf(error: unknown): AccessRefusedError | undefined {
  if (error instanceof AccessRefusedError) return error
  if (!(error instanceof FatalError) || error.code !== overQuota) return undefined
  const { code = 'none' } = error.details
  const message = `the account's credits or its quota are used up (416, code ${code}): add credits, or wait until the quota is renewed, and start again`
  return new AccessRefusedError(overQuota, message, { details: error.details, cause: error })
}

function aboutLookup({ details, cause }: AccessRefusedError): FatalError {
  if (cause instanceof FatalError) return cause
  const message = `the service answers ${details['status']} to this lookup and not to others; something in front of it may refuse what the request contains`
  return new FatalError('access_refused', message, { details })
}
