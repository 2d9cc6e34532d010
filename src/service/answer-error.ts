import { errorCode } from '../domain/error-codes.ts'
import {
  AccessRefusedError,
  ConfigError,
  FatalError,
  RetriableError,
  type PaydirtError,
} from '../domain/errors.ts'
import type { ResponseHead } from '../domain/payment.ts'
import { retryAfter } from '../domain/retry-after.ts'

/**
 * Turns a response that is neither a success nor a challenge into an error whose class says what to do next
 * (service.md, section 7). Text of the body is used only where it cannot hold personal data. `endpoint` has the template of the path.
 */
export function answerError(
  response: ResponseHead,
  { endpoint = '' }: { endpoint?: string } = {},
): PaydirtError {
  const { status, body } = response
  const details = { status }
  switch (status) {
    case 400:
      return refused(body)
    case 403:
      if (body.includes('error code: 1010')) {
        return new ConfigError(
          'user_agent_blocked',
          'the service blocks this User-Agent at its edge (error code: 1010); the key is not invalid. Set another userAgent',
          { details },
        )
      }
      return new AccessRefusedError(
        'forbidden',
        'the service refuses access (403): check the API key and its plan',
        { details },
      )
    case 401:
      return new AccessRefusedError('unauthorized', 'the service does not accept the credentials (401)', {
        details,
      })
    case 404:
      return isNamedThing(endpoint, body)
        ? new FatalError(
            'not_there',
            `the service has no such thing: ${plainMessage(body) ?? 'it is not there'} (404, code ${codeOf(body)})`,
            { details: { ...details, code: codeOf(body) } },
          )
        : new AccessRefusedError(
            'no_such_endpoint',
            'the service has no such endpoint (404): check PAYDIRT_SERVICE_URL and PAYDIRT_NETWORK_NAME',
            { details: { ...details, code: codeOf(body) } },
          )
    case 408:
      return new RetriableError(errorCode.notInTime, 'the service could not finish in time (408)', {
        retryAfterMs: retryAfter(response.headers, Date.now()),
        details,
      })
    case 416:
      return new FatalError(
        'over_quota',
        `the service's quota or paging limit is exceeded (${codeOf(body) ?? 416})`,
        { details: { ...details, code: codeOf(body) } },
      )
    case 429: {
      const retryAfterMs = retryAfter(response.headers, Date.now())
      return new RetriableError(errorCode.rateLimited, 'the service asks for fewer requests (429)', {
        countsAsTry: false,
        retryAfterMs,
        details,
      })
    }
    case 201:
    case 202:
    case 203:
    case 204:
    case 206:
      return new RetriableError('no_answer_yet', `the service answered ${status} without an answer`, {
        details,
      })
    default:
      return status >= 500
        ? new RetriableError('service_error', `the service failed (${status})`, { details })
        : new FatalError('unexpected_status', `the service answered ${status}`, { details })
  }
}

/**
 * True for a 404 in the service's own form, with one of its five-digit codes, to a path that names something: that thing is not
 * there. A gateway or a framework that does not know the path has no such code.
 */
function isNamedThing(endpoint: string, body: string): boolean {
  return endpoint.includes('{') && String(codeOf(body) ?? '').length === 5
}

function refused(body: string): FatalError {
  const code = codeOf(body)
  const meaning = meaningOf(code, body)
  return new FatalError(
    'bad_request',
    `the service refuses the request: ${meaning} (400, code ${code ?? 'not given'})`,
    {
      details: { status: 400, code },
    },
  )
}

/** One of the codes of monitors, 40020 to 40035, has a meaning that is known (service.md, 7). */
function meaningOf(code: number | undefined, body: string): string {
  if (code === 41847) return 'a parameter is missing'
  if (code === 40021) return 'detection_mode cannot change after a monitor is created'
  const isOfMonitors = code !== undefined && code >= 40020 && code <= 40035
  return (isOfMonitors && plainMessage(body)) || 'the request is malformed or a parameter is invalid'
}

/**
 * Returns the message of a refusal where it cannot hold a value of the request: short, in small letters and without quotes,
 * addresses or long numbers. A name or an e-mail address fails that.
 */
function plainMessage(body: string): string | undefined {
  const said = JSON.parse(body) as { message?: unknown; error?: unknown }
  const message = said.message ?? said.error
  if (typeof message !== 'string' || message.length > 160) return undefined
  return /^[A-Z]?[a-z_]*(?:[ ,;:.]+(?:[a-z_]+|\d{1,4}|HTTP|URL|JSON))*\.?$/.test(message)
    ? message
    : undefined
}

function codeOf(body: string): number | undefined {
  try {
    const code = (JSON.parse(body) as { code?: unknown } | null)?.code
    return typeof code === 'number' ? code : undefined
  } catch {
    return undefined
  }
}
