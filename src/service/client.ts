import { ConfigError, InputError } from '../domain/errors.ts'
import type { Fact } from '../domain/record.ts'
import type { Operation } from '../domain/words.ts'
import { companyProfile } from './endpoints/company-profile.ts'
import type { Endpoint } from './endpoints/endpoint.ts'
import { personProfile } from './endpoints/person-profile.ts'

const endpoints: readonly Endpoint[] = [companyProfile, personProfile]

/** A request ready to be paid for and sent: everything that the journal keeps of it. */
export interface PreparedRequest {
  operation: Operation
  /** `POST https://host/path`: under this name terms are cached and spending is reported. */
  endpoint: string
  method: 'GET' | 'POST'
  url: string
  body: string
  timeoutMs: number
  decode: (body: string) => Fact
}

/** Checks a lookup's request against its endpoint's schema, so that nothing malformed is ever paid for. */
export function prepareRequest(
  serviceUrl: string,
  operation: Operation,
  request: Record<string, unknown>,
): PreparedRequest {
  const endpoint = endpoints.find((candidate) => candidate.operation === operation)
  if (!endpoint) throw new ConfigError('no_endpoint', `no endpoint of the service performs ${operation}`)
  const checked = endpoint.request.safeParse(request)
  if (!checked.success) {
    const issue = checked.error.issues[0]
    throw new InputError(
      'bad_lookup',
      `${operation}: ${issue?.path.join('.') ?? ''} ${issue?.message ?? 'is invalid'}`,
    )
  }
  const url = serviceUrl.replace(/\/$/, '') + endpoint.path
  return {
    operation,
    endpoint: `${endpoint.method} ${url}`,
    method: endpoint.method,
    url,
    body: JSON.stringify(checked.data),
    timeoutMs: endpoint.timeoutMs,
    decode: endpoint.decode,
  }
}
