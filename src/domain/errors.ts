import { errorCode } from './error-codes.ts'

/** Details of an error that are safe to log: never a value of a record, a header or a key. */
export type ErrorDetails = Record<string, string | number | boolean | null | undefined>

/**
 * The next thing to do about an error, for a program:
 *
 * - `fix_settings`: correct a setting, a right or the call itself; nothing began;
 * - `fix_input`: correct the file or the record;
 * - `retry_later`: the same call may pass later, after `retryAfterMs` where that is known;
 * - `raise_budget`: a cap is reached or spending is stopped; the work is parked and goes on by the same call;
 * - `review_policy`: the service asked for a payment that the settings do not allow; nothing was signed;
 * - `review_operation`: an operation of the service answers in a form that cannot be used; a person looks at it;
 * - `reconcile`: it is not known whether money moved; never pay again, `paydirt reconcile` finds out;
 * - `give_up`: another try would not help;
 * - `report`: an error that no code expected.
 */
export type Recovery =
  | 'fix_settings'
  | 'fix_input'
  | 'retry_later'
  | 'raise_budget'
  | 'review_policy'
  | 'review_operation'
  | 'reconcile'
  | 'give_up'
  | 'report'

/**
 * The base of all our errors. The class says what the caller must do next, `code` says what happened, and `details` may be
 * logged as they are.
 */
export abstract class PaydirtError extends Error {
  readonly code: string
  /** The next thing to do. Programs may rely on these words. */
  abstract readonly recovery: Recovery
  readonly details: ErrorDetails

  constructor(code: string, message: string, options: { details?: ErrorDetails; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.name = new.target.name
    this.code = code
    this.details = options.details ?? {}
  }
}

/** A setting, a file or a command line is wrong: refuse to start and name it. */
export class ConfigError extends PaydirtError {
  readonly recovery = 'fix_settings'
}

/**
 * The service refused access to one request (401, 403, 404). The account or the endpoint may be wrong, or something in front
 * of the service refuses what this request contains: what other requests get decides. Without others, it is a ConfigError.
 */
export class AccessRefusedError extends ConfigError {}

/** Bad input at a known place: the row or record is rejected, and the others continue. */
export class InputError extends PaydirtError {
  readonly recovery = 'fix_input'
}

/**
 * Worth trying again later. `retryAfterMs` is the wait that the other side asked for. `countsAsTry` is false where the next
 * attempt costs nothing and is likely to pass, as after a 429. The caller limits how often that is believed.
 */
export class RetriableError extends PaydirtError {
  readonly recovery = 'retry_later'
  readonly retryAfterMs: number | undefined
  readonly countsAsTry: boolean

  constructor(
    code: string,
    message: string,
    options: {
      retryAfterMs?: number | undefined
      countsAsTry?: boolean
      details?: ErrorDetails
      cause?: unknown
    } = {},
  ) {
    super(code, message, options)
    this.retryAfterMs = options.retryAfterMs
    this.countsAsTry = options.countsAsTry ?? true
  }
}

/** Another try would not help: the lookup ends with this reason. */
export class FatalError extends PaydirtError {
  readonly recovery = 'give_up'
}

/** A challenge outside the spending policy. Nothing was signed, and the lookup is not consumed. */
export class PolicyDeniedError extends PaydirtError {
  readonly recovery = 'review_policy'
}

/**
 * An operation that no answer had confirmed was answered in a way that cannot be used. Its lookups are parked until a person
 * acts, and other operations go on.
 */
export class OperationStoppedError extends PaydirtError {
  readonly recovery = 'review_operation'
}

/** A cap is reached or spending is stopped: the work is parked until `resumesAt` (undefined: until a person acts). */
export class BudgetExhaustedError extends PaydirtError {
  readonly recovery = 'raise_budget'
  readonly resumesAt: Date | undefined

  constructor(
    code: string,
    message: string,
    options: { resumesAt?: Date | undefined; details?: ErrorDetails } = {},
  ) {
    super(code, message, options)
    this.resumesAt = options.resumesAt
  }
}

/** Returns the error for work that the kill switch has stopped. */
export function spendingStopped(): BudgetExhaustedError {
  return new BudgetExhaustedError(
    errorCode.stopped,
    'spending is stopped (lift it with `paydirt spend --resume`)',
  )
}

/** Returns the error for a lookup whose run a person has stopped: nothing is bought for it, and it is parked elsewhere. */
export function runStopped(): RetriableError {
  return new RetriableError(errorCode.runStopped, 'its run is stopped', {
    retryAfterMs: 50,
    countsAsTry: false,
  })
}

/** It is not known whether money has moved: never pay again for this lookup, and let the resolver find out. */
export class PaymentInDoubtError extends PaydirtError {
  readonly recovery = 'reconcile'
}

/** Returns a short line for any thrown value. */
export function describeError(error: unknown): string {
  if (error instanceof PaydirtError) return `${error.code}: ${error.message}`
  if (error instanceof AggregateError && error.errors.length > 0) return describeError(error.errors[0])
  return error instanceof Error ? error.message : String(error)
}

/**
 * Returns a line for an error that no code expected: its class, its code, and where it was thrown. Leaves out its message,
 * which may repeat the data that it stumbled over.
 */
export function describeUnexpected(error: unknown): string {
  if (error instanceof PaydirtError) return describeError(error)
  if (!(error instanceof Error)) return `a thrown ${typeof error}`
  const code = (error as { code?: unknown }).code
  const place = /\bat [^\n]*?([\w.-]+:\d+):\d+\)?/.exec(error.stack ?? '')?.[1]
  const words = [error.name, typeof code === 'string' && /^[\w.]{1,40}$/.test(code) ? `(${code})` : undefined]
  return [...words, place && `at ${place}`].filter(Boolean).join(' ')
}
