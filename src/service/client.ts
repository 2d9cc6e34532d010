import { ConfigError, InputError } from '../domain/errors.ts'
import type { Operation } from '../domain/words.ts'
import { onTheWire } from './calls/on-the-wire.ts'
import { valueAt } from './calls/json-path.ts'
import { prepareCall } from './calls/prepare-call.ts'
import { decodeWhole } from './calls/read-answer.ts'
import { publishedCatalogue, type Catalogue, type Contract } from './catalogue/catalogue.ts'
import { accountProfile, accountUsage } from './endpoints/account-profile.ts'
import { companyEnrichment } from './endpoints/company-enrichment.ts'
import { companyLookup } from './endpoints/company-lookup.ts'
import { companyProfile } from './endpoints/company-profile.ts'
import { contactLookup } from './endpoints/contact-lookup.ts'
import type { Endpoint } from './endpoints/endpoint.ts'
import { objectOf } from './endpoints/peoples.ts'
import { personProfile } from './endpoints/person-profile.ts'
import { redemption } from './endpoints/redemption.ts'
import type { PreparedRequest } from './prepared-request.ts'
import { urlOf } from './urls.ts'

/**
 * The operations with an endpoint in code: their answers become records. All others are sent as the catalogue says and their
 * answers kept whole. `company.logo` is not a JSON endpoint: see logo.ts.
 */
const endpoints: Partial<Record<Operation, Endpoint>> = {
  'company.profile': companyProfile,
  'person.profile': personProfile,
  'contact.lookup': contactLookup,
  'contact.redeem': redemption,
  'company.lookup': companyLookup,
  'company.enrich': companyEnrichment,
  'account.profile': accountProfile,
  'account.usage': accountUsage,
}

/** Checks a request against its endpoint's schema, so that a malformed one is never paid for. */
export function prepareRequest(
  serviceUrl: string,
  operation: Operation,
  request: Record<string, unknown>,
  catalogue: Catalogue = publishedCatalogue,
): PreparedRequest {
  if (operation === 'company.logo')
    throw new ConfigError('no_endpoint', `no endpoint of the service performs ${operation}`)
  const endpoint = endpoints[operation]
  if (!endpoint) return prepareCall(serviceUrl, catalogue, operation, request)
  const contract = catalogue.of(operation)
  const checked = endpoint.request.safeParse(request)
  if (!checked.success) throw new InputError('bad_lookup', `${operation}: ${issueText(checked.error)}`)
  const body = checked.data as Record<string, unknown>
  const url = urlOf(serviceUrl, contract.path.value)
  const priceClass = endpoint.priceClass?.(body)
  return {
    operation,
    endpoint: `${contract.method.value} ${url}${priceClass ? ` (${priceClass})` : ''}`,
    method: contract.method.value,
    url,
    body: JSON.stringify(onTheWire(contract, body)),
    timeoutMs: endpoint.timeoutMs,
    decode: decodeAt(contract, endpoint.decode),
  }
}

/**
 * Returns a request that was sent before, with the decoder of now. Its address and body are those of its charge: they are sent
 * again byte by byte, whatever the settings say now.
 */
export function resumeRequest(
  { operation, url, body }: Pick<PreparedRequest, 'operation' | 'url' | 'body'>,
  catalogue: Catalogue = publishedCatalogue,
): PreparedRequest {
  const contract = catalogue.of(operation)
  const coded = endpoints[operation]
  return {
    operation,
    endpoint: `${contract.method.value} ${url}`,
    method: contract.method.value,
    url,
    body,
    timeoutMs: coded?.timeoutMs ?? contract.timeoutMs,
    decode: coded ? decodeAt(contract, coded.decode) : decodeWhole(contract),
  }
}

/** The endpoints read `data`. Where the settings name another place, what is there is put into it. */
function decodeAt({ setting, answer }: Contract, decode: Endpoint['decode']): Endpoint['decode'] {
  if (setting.fields?.['at'] === undefined) return decode
  return (body) => {
    const whole = objectOf(body)
    return decode(whole ? JSON.stringify({ ...whole, data: valueAt(whole, answer.at.value) }) : body)
  }
}

/** Returns the path and the rule of the first issue. Never the value: it may be personal data. */
export function issueText({
  issues: [issue],
}: {
  issues: readonly { path: PropertyKey[]; message: string }[]
}): string {
  return `${issue?.path.join('.') ?? ''} ${issue?.message ?? 'is invalid'}`.trim()
}
