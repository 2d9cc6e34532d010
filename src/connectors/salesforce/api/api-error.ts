import { z } from 'zod'
import { ConfigError, FatalError, PaydirtError, RetriableError } from '../../../domain/errors.ts'
import { retryAfter } from '../../../domain/retry-after.ts'
import { NoAnswerError, type WireResponse } from './transport.ts'

/** Salesforce refused the request, and would refuse it again. */
export class RefusedRequestError extends FatalError {
  /** Salesforce's own code, such as `INVALID_FIELD`. */
  readonly errorCode: string
  /** Salesforce's own message. It may quote values of a record: for the record's result, never for a log. */
  readonly said: string

  constructor(errorCode: string, said: string, request: string) {
    super('salesforce_refused', `Salesforce refused ${request} with ${errorCode}`, { details: { errorCode } })
    this.errorCode = errorCode
    this.said = said
  }
}

export interface FailedCall {
  error: unknown
  /** Method and path, without the query, which may contain values. */
  request: string
  /** The last answer, if there was one. jsforce's errors have neither its status nor its headers. */
  response: WireResponse | undefined
  nowMs: number
}

/** Daily requests are counted over a rolling 24 hours, so some are free again soon. */
const quotaRetryMs = 15 * 60_000
const busyRetryMs = 30_000

/** Returns what the caller of a failed request must do, as one of the errors of domain/errors.ts. */
export function classify({ error, request, response, nowMs }: FailedCall): Error {
  if (error instanceof PaydirtError) return error
  if (error instanceof NoAnswerError) {
    return new RetriableError('salesforce_unreachable', error.message, { cause: error })
  }
  // Not from the network: a fault of the program, or an answer that jsforce could not read.
  if (!response || response.statusCode < 400) return error instanceof Error ? error : new Error(String(error))
  const { errorCode: code, message: said } = readAnswer(response)
  const status = response.statusCode
  const details = { errorCode: code, status }
  const afterMs = retryAfter(response.headers, nowMs)

  if (code === 'REQUEST_LIMIT_EXCEEDED') {
    const isConcurrency = /concurrent/i.test(said)
    return new RetriableError(
      isConcurrency ? 'salesforce_busy' : 'salesforce_quota',
      isConcurrency
        ? 'too many long requests of the org run at once'
        : 'the API requests of the org for today are used up',
      { retryAfterMs: afterMs ?? (isConcurrency ? busyRetryMs : quotaRetryMs), countsAsTry: false, details },
    )
  }
  if (retriableCodes.has(code) || status >= 500 || status === 429 || status === 420) {
    return new RetriableError('salesforce_unavailable', `Salesforce answered ${code} to ${request}`, {
      ...(afterMs === undefined ? {} : { retryAfterMs: afterMs }),
      countsAsTry: status !== 429,
      details,
    })
  }
  const todo = toMend[code] ?? (code.startsWith('INSUFFICIENT_ACCESS') ? accessTodo : undefined)
  if (todo) return new ConfigError('salesforce_access', `Salesforce answered ${code}: ${todo}`, { details })
  return new RefusedRequestError(code, said, request)
}

/** Returns whether a request that failed with this error may be repeated at once. */
export function isPassing(error: unknown): boolean {
  return (
    error instanceof RetriableError &&
    (error.code === 'salesforce_unreachable' || error.code === 'salesforce_unavailable')
  )
}

/**
 * Returns the first error of the answer itself: jsforce does not read the code of an answer that was requested as text.
 */
function readAnswer({ statusCode, body }: WireResponse): { errorCode: string; message: string } {
  const unknown = { errorCode: `HTTP_${statusCode}`, message: '' }
  try {
    const parsed = answerSchema.safeParse(JSON.parse(body))
    return parsed.success ? (Array.isArray(parsed.data) ? (parsed.data[0] ?? unknown) : parsed.data) : unknown
  } catch {
    return unknown
  }
}

const errorSchema = z.object({ errorCode: z.string(), message: z.string().default('') })
const answerSchema = z.union([z.array(errorSchema), errorSchema])

const accessTodo = 'give the integration user a permission set with the objects and fields of the mapping'

const retriableCodes: ReadonlySet<string> = new Set([
  'SERVER_UNAVAILABLE',
  'UNABLE_TO_LOCK_ROW',
  'QUERY_TIMEOUT',
  'OPERATION_TOO_LARGE',
  'API_CURRENTLY_DISABLED',
  'UNKNOWN_EXCEPTION',
  'APEX_REST_SERVICES_DISABLED',
])

const toMend: Readonly<Record<string, string>> = {
  INVALID_SESSION_ID: 'a new session is refused as well; check the policies of the app (IP ranges, session)',
  API_DISABLED_FOR_ORG: 'the API is not enabled; give the user the permission "API Enabled"',
  UNSUPPORTED_API_VERSION: 'set a version that the org supports',
  INVALID_TYPE: 'an object of the mapping does not exist, or the user may not see it',
}
