import { ConfigError, InputError } from '../domain/errors.ts'
import type { Fact } from '../domain/record.ts'
import type { Operation } from '../domain/words.ts'
import { accountProfile, accountUsage } from './endpoints/account-profile.ts'
import { companyEnrichment } from './endpoints/company-enrichment.ts'
import { companyLookup } from './endpoints/company-lookup.ts'
import { companyProfile } from './endpoints/company-profile.ts'
import { contactLookup } from './endpoints/contact-lookup.ts'
import type { Endpoint } from './endpoints/endpoint.ts'
import type { Paths } from './endpoints/paths.ts'
import { personProfile } from './endpoints/person-profile.ts'
import { redemption } from './endpoints/redemption.ts'

/** The endpoint of each operation that takes single lookups. `company.logo` is not a JSON endpoint: see logo.ts. */
const endpoints: Record<Exclude<Operation, 'company.logo'>, Endpoint> = {
  'company.profile': companyProfile,
  'person.profile': personProfile,
  'contact.lookup': contactLookup,
  'contact.redeem': redemption,
  'company.lookup': companyLookup,
  'company.enrich': companyEnrichment,
  'account.profile': accountProfile,
}

/** A request ready to be paid for and sent. The journal stores all of it. */
export interface PreparedRequest {
  operation: Operation
  /**
   * `POST https://host/path`, with the values that determine its price in brackets. Terms are cached and spending is
   * reported under this name.
   */
  endpoint: string
  method: 'GET' | 'POST'
  url: string
  body: string
  timeoutMs: number
  decode: (body: string) => Fact
}

/** Checks a lookup's request against its endpoint's schema, so that a malformed request is never paid for. */
export function prepareRequest(
  serviceUrl: string,
  operation: Operation,
  request: Record<string, unknown>,
  paths: Paths = {},
): PreparedRequest {
  if (operation === 'company.logo')
    throw new ConfigError('no_endpoint', `no endpoint of the service performs ${operation}`)
  return prepare(serviceUrl, endpoints[operation], request, paths)
}

/** Prepares the request for the workspace's usage. It is free and needs an API key. */
export function prepareUsage(serviceUrl: string, paths: Paths = {}): PreparedRequest {
  return prepare(serviceUrl, accountUsage, {}, paths)
}

function prepare(
  serviceUrl: string,
  endpoint: Endpoint,
  request: Record<string, unknown>,
  paths: Paths,
): PreparedRequest {
  const { operation, name, method, timeoutMs, decode } = endpoint
  const checked = endpoint.request.safeParse(request)
  if (!checked.success) throw new InputError('bad_lookup', `${operation}: ${issueText(checked.error)}`)
  const url = urlOf(serviceUrl, paths[name] ?? endpoint.path)
  const body = checked.data as Record<string, unknown>
  const priceClass = endpoint.priceClass?.(body)
  return {
    operation,
    endpoint: `${method} ${url}${priceClass ? ` (${priceClass})` : ''}`,
    method,
    url,
    body: JSON.stringify(body),
    timeoutMs,
    decode,
  }
}

export function urlOf(serviceUrl: string, path: string): string {
  return serviceUrl.replace(/\/$/, '') + path
}

/** Returns the path and the rule of the first issue. Never the value: it may be personal data. */
export function issueText({
  issues: [issue],
}: {
  issues: readonly { path: PropertyKey[]; message: string }[]
}): string {
  return `${issue?.path.join('.') ?? ''} ${issue?.message ?? 'is invalid'}`.trim()
}
