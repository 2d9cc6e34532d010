import { ConfigError, InputError } from '../domain/errors.ts'
import type { Fact } from '../domain/record.ts'
import type { Operation } from '../domain/words.ts'
import { batchOnTheWire } from './calls/on-the-wire.ts'
import { furtherPath, publishedCatalogue, type Catalogue } from './catalogue/catalogue.ts'
import { issueText } from './client.ts'
import type { PreparedRequest } from './prepared-request.ts'
import type { BatchEndpoint, DeferredEndpoint, StartedQuery } from './endpoints/batch-endpoint.ts'
import { contactLookupBatch } from './endpoints/contact-lookup.ts'
import { urlOf } from './urls.ts'
import { redemptionBatch } from './endpoints/redemption.ts'

type AnyBatchEndpoint = BatchEndpoint<unknown, unknown> | DeferredEndpoint<unknown, unknown>
// An entry is only ever passed back to the endpoint whose schema made it.
const endpoints = [contactLookupBatch, redemptionBatch] as unknown as readonly AnyBatchEndpoint[]

/** One HTTP request that answers many lookups. Positions refer to the requests that it was prepared from. */
export interface PreparedBatch extends Omit<PreparedRequest, 'decode'> {
  /** The body by the names of the catalogue. The ledger keeps this one: the names that the service gives to keys may change. */
  request: Record<string, unknown>
  /** For each entry of the body, the requests that it answers: several when they are the same input. */
  sent: readonly (readonly number[])[]
  /**
   * Requests that are not in the body, with the reason: they have nothing to search by, or they can only be sent alone.
   */
  skipped: readonly { index: number; reason: string }[]
  /** Returns one fact for each request that was sent. Never throws. */
  decode: (body: string) => Map<number, Fact>
  /**
   * Present when the first response does not hold the answer. Reads that response, so that the answer can be requested
   * with `prepareQuery`.
   */
  started?: ((body: string) => StartedQuery | undefined) | undefined
}

export interface BatchOptions {
  catalogue?: Catalogue
  /** Entries in one request. The endpoint's own maximum always applies. */
  max?: number
}

/** Returns how many lookups of an operation fit into one request; 1 when they can only be sent alone. */
export function batchSize(operation: Operation, max = Infinity): number {
  return Math.min(max, find(operation)?.max ?? 1)
}

/**
 * Returns the group of a lookup. Lookups of one group may share a request. Undefined: this one can only be sent alone.
 */
export function batchGroup(operation: Operation, request: Record<string, unknown>): string | undefined {
  const endpoint = find(operation)
  const halves = endpoint?.split(request)
  const shared = halves && endpoint?.shared.safeParse(halves.shared)
  return shared?.success ? `${operation} ${JSON.stringify(shared.data)}` : undefined
}

/**
 * Puts the requests of single lookups into one batch request. An entry that the service could not search by is left out
 * and reported in `skipped`. Throws InputError when no entry is left, when the entries do not belong together, or when
 * there are too many.
 */
export function prepareBatch(
  serviceUrl: string,
  operation: Operation,
  requests: readonly Record<string, unknown>[],
  options: BatchOptions = {},
): PreparedBatch {
  const endpoint = found(operation)
  const skipped: { index: number; reason: string }[] = []
  const entries = new Map<string, { entry: unknown; indexes: number[] }>()
  const shared = new Map<string, unknown>()
  for (const [index, request] of requests.entries()) {
    const checked = checkedHalves(endpoint, request)
    if ('reason' in checked) {
      skipped.push({ index, reason: checked.reason })
      continue
    }
    shared.set(JSON.stringify(checked.shared), checked.shared)
    const identity = endpoint.identity(checked.entry)
    const known = entries.get(identity)
    if (known) known.indexes.push(index)
    else entries.set(identity, { entry: checked.entry, indexes: [index] })
  }
  if (entries.size === 0)
    throw new InputError('nothing_searchable', `${operation}: no entry can be searched for`)
  if (shared.size > 1)
    throw new InputError('mixed_batch', `${operation}: the entries differ in the values that are sent once`)
  if (entries.size > batchSize(operation, options.max)) {
    throw new InputError(
      'batch_too_large',
      `${operation}: ${entries.size} entries, ${batchSize(operation, options.max)} at most`,
    )
  }
  const all = [...entries.values()]
  const request = endpoint.body(
    all.map(({ entry }) => entry),
    [...shared.values()][0],
  )
  return prepared(
    serviceUrl,
    endpoint,
    request,
    { sent: all.map(({ indexes }) => indexes), skipped },
    options,
  )
}

/** Prepares a batch that was formed before, from its `request`. Position n of its facts is entry n of the request. */
export function resumeBatch(
  serviceUrl: string,
  operation: Operation,
  request: Record<string, unknown>,
  options: BatchOptions = {},
): PreparedBatch {
  const endpoint = found(operation)
  const sent = endpoint.entriesOf(request).map((_, index) => [index])
  return prepared(serviceUrl, endpoint, request, { sent, skipped: [] }, options)
}

/**
 * Prepares the request for the answer of a deferred request. It is free and can be repeated. The response is read with
 * the `decode` of the request that started it.
 */
export function prepareQuery(
  serviceUrl: string,
  operation: Operation,
  queryId: string,
  { catalogue = publishedCatalogue }: BatchOptions = {},
): Omit<PreparedRequest, 'decode'> {
  const endpoint = found(operation)
  if (!('query' in endpoint)) throw new ConfigError('no_query', `${operation} has no deferred answer`)
  const { timeoutMs, body } = endpoint.query
  const contract = catalogue.of(operation)
  const method = contract.method.value
  const url = urlOf(serviceUrl, furtherPath(contract, 'batchQuery'))
  return {
    operation,
    endpoint: `${method} ${url}`,
    method,
    url,
    body: JSON.stringify(body(queryId)),
    timeoutMs,
  }
}

function prepared(
  serviceUrl: string,
  endpoint: AnyBatchEndpoint,
  request: Record<string, unknown>,
  { sent, skipped }: Pick<PreparedBatch, 'sent' | 'skipped'>,
  { catalogue = publishedCatalogue }: BatchOptions,
): PreparedBatch {
  const { operation, timeoutMs } = endpoint
  const contract = catalogue.of(operation)
  const method = contract.method.value
  const url = urlOf(serviceUrl, furtherPath(contract, 'batch'))
  const entries = endpoint.entriesOf(request)
  return {
    operation,
    endpoint: `${method} ${url} (${endpoint.priceClass(entries, endpoint.shared.parse(besidePeoples(request)))})`,
    method,
    url,
    request,
    body: JSON.stringify(batchOnTheWire(contract, request)),
    timeoutMs,
    sent,
    skipped,
    decode(answer) {
      const facts = endpoint.decode(answer, entries)
      return new Map(sent.flatMap((indexes, at) => indexes.map((index) => [index, facts.get(at)!] as const)))
    },
    started: 'started' in endpoint ? endpoint.started : undefined,
  }
}

function checkedHalves(
  endpoint: AnyBatchEndpoint,
  request: Record<string, unknown>,
): { entry: unknown; shared: unknown } | { reason: string } {
  const halves = endpoint.split(request)
  if (!halves) return { reason: 'it can only be sent alone' }
  const entry = endpoint.entry.safeParse(halves.entry)
  if (!entry.success) return { reason: issueText(entry.error) }
  const shared = endpoint.shared.safeParse(halves.shared)
  if (!shared.success) return { reason: issueText(shared.error) }
  return { entry: entry.data, shared: shared.data }
}

function besidePeoples(body: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'peoples'))
}

function found(operation: Operation): AnyBatchEndpoint {
  const endpoint = find(operation)
  if (!endpoint) throw new ConfigError('no_batch', `${operation} can only be sent one at a time`)
  return endpoint
}

function find(operation: Operation): AnyBatchEndpoint | undefined {
  return endpoints.find((candidate) => candidate.operation === operation)
}
