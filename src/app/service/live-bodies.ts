import { operationRow } from '../../domain/operations.ts'
import type { Operation } from '../../domain/words.ts'
import type { Contract } from '../../service/catalogue/catalogue.ts'
import type { References, Sourced } from './live-references.ts'

/** The request that asks an operation for one answer, the reference that it lacks, or the reason why none is sent. */
export type LiveBody =
  { body: Record<string, unknown> } | { needs: Sourced; count: number; text: string } | { skipped: string }

/** Requests that no reference makes. */
const fixed: Readonly<Partial<Record<Operation, LiveBody>>> = {
  'company.logo': { skipped: 'its answer is an image' },
  'contact.lookup': {
    skipped: 'needs an e-mail, a phone or a name that somebody has asked for: none is taken from answers',
  },
  'monitor.interpret': { body: { query: 'companies that hire in Germany' } },
}

const texts: Readonly<Record<Sourced, string>> = {
  company: 'a company’s profile URL',
  companyIds: 'a company’s id',
  person: 'a person',
  monitorId: 'a monitor',
}

/** Returns the body of a check. One row is enough to see the form of an answer, and one type of contacts of one person. */
export function liveBody(contract: Contract, references: References): LiveBody {
  const { operation, request, oneOf = [], family } = contract
  const own = fixed[operation]
  if (own) return own
  const paging = operationRow(operation).kind === 'search' && 'per_page' in request ? { per_page: 1 } : {}
  const isPeople = family === 'people'
  const body: Record<string, unknown> = { ...paging }
  for (const [name, { isRequired, within }] of Object.entries(request)) {
    if (!isRequired) continue
    const value = valueOf(name, references, { isPeople, least: within?.[0] ?? 1 })
    if (value === undefined) return { skipped: `needs ${name}` }
    if (!('value' in value)) return value
    body[name] = value.value
  }
  const named = referenceOf(contract, references)
  if (named && !('body' in named)) return named
  if (named) return { body: { ...body, ...named.body } }
  const isEnough =
    Object.keys(body).length > Object.keys(paging).length ||
    Object.keys(request).every((name) => name === 'page' || name === 'per_page')
  return isEnough ? { body } : { skipped: `needs ${oneOf.join(' or ') || 'a filter'}` }
}

/** Returns the part of a body that names its subject; undefined for an operation that has none beside its required keys. */
function referenceOf(
  { request, oneOf = [], family }: Contract,
  references: References,
): LiveBody | undefined {
  const { person, domain } = references
  if (family === 'people' && oneOf.includes('profnet_url')) {
    if (!person) return lacking('person', 1)
    const { profnet_url, people_search_id } = person
    return { body: profnet_url === undefined ? { people_search_id } : { profnet_url } }
  }
  const byDomain = oneOf.includes('domain')
    ? { domain }
    : 'domains' in request
      ? { domains: [domain] }
      : undefined
  if (byDomain)
    return domain === undefined
      ? { skipped: 'needs a company: name one with --company DOMAIN' }
      : { body: byDomain }
  const ids = request['domain_search_ids']
  if (!ids?.isFilter) return undefined
  const value = valueOf('domain_search_ids', references, { isPeople: false, least: 1 })
  return value && ('value' in value ? { body: { domain_search_ids: value.value } } : value)
}

function valueOf(
  name: string,
  { company, companyIds, person, monitorId }: References,
  { isPeople, least }: { isPeople: boolean; least: number },
): { value: unknown } | LiveBody | undefined {
  switch (name) {
    case 'profnet_url': {
      const url = isPeople ? person?.profnet_url : company
      return url === undefined ? lacking(isPeople ? 'person' : 'company', 1) : { value: url }
    }
    case 'domain_search_ids':
      return companyIds.length < least ? lacking('companyIds', least) : { value: companyIds.slice(0, least) }
    case 'monitor_id':
      return monitorId === undefined ? lacking('monitorId', 1) : { value: monitorId }
    case 'people_contact_types':
      return { value: ['email-work'] }
    default:
      return undefined
  }
}

function lacking(needs: Sourced, count: number): LiveBody {
  return { needs, count, text: count > 1 ? `the ids of ${count} companies` : texts[needs] }
}
