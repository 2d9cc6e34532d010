import { FatalError } from '../../domain/errors.ts'
import type { Send } from '../../domain/ports/transport.ts'
import type { Fact, LookupRequest } from '../../domain/record.ts'
import type { Operation } from '../../domain/words.ts'
import { answerError } from '../../service/answer-error.ts'
import { prepareQuery, resumeBatch, type PreparedBatch } from '../../service/batch.ts'
import type { Catalogue } from '../../service/catalogue/catalogue.ts'
import { prepareRequest, resumeRequest } from '../../service/client.ts'
import { createLogoClient } from '../../service/logo.ts'
import { traceTransport } from '../../service/traced-transport.ts'
import { createTransport } from '../../service/transport.ts'
import type { Config } from '../config/config.ts'
import { noService } from './missing-settings.ts'

/** The data service as this process talks to it. */
export interface Service {
  url: string
  send: Send
  /** Returns a JSON body as it leaves, to the byte. */
  wireBody: (body: string) => string
  /** Headers that direct access sends with every request. */
  headers: Readonly<Record<string, string>>
  prepare: (operation: Operation, request: LookupRequest) => ReturnType<typeof prepareRequest>
  /** Returns a batch of lookups, from the request that the ledger keeps. */
  prepareBulk: (operation: Operation, request: LookupRequest) => PreparedBatch
  /** Returns a single request that was sent before. */
  resume: (charge: { operation: Operation; url: string; body: string }) => ReturnType<typeof resumeRequest>
  prepareQuery: (operation: Operation, queryId: string) => ReturnType<typeof prepareQuery>
  /** Returns what the workspace of the API key has used and has left, or its profile; undefined without a key. */
  askAccount: (operation?: AccountOperation) => Promise<Record<string, unknown> | undefined>
  fetchFree: (operation: Operation, request: LookupRequest) => Promise<Fact>
  close: () => Promise<void>
}

/** Operations that are free and belong to the workspace of the API key. */
export type AccountOperation = Extract<Operation, `account.${string}`>

export function isAccountOperation(operation: Operation): operation is AccountOperation {
  return operation.startsWith('account.')
}

/** Connections beyond those of background lookups: eight for urgent ones, the rest to poll for started answers. */
const spareConnections = 16

/** Throws ConfigError when the service's address is not set. */
export function openService(
  config: Config,
  {
    catalogue,
    isTraced,
    wrapSend,
  }: { catalogue: Catalogue; isTraced: boolean; wrapSend: ((send: Send) => Send) | undefined },
): Service {
  const { apiKey, serviceUrl: url } = config
  if (url === undefined) throw noService()
  const plain = createTransport({
    userAgent: config.userAgent,
    networkName: config.networkName,
    // An urgent lookup finds a free connection while every background lookup is in flight, and so does polling.
    connections: config.concurrency + spareConnections,
  })
  const transport = isTraced ? traceTransport(plain) : plain
  const send = wrapSend ? wrapSend(transport.send) : transport.send
  const headers: Record<string, string> = apiKey ? { [apiKey.header]: apiKey.key } : {}
  const logos =
    config.logoUrl === undefined
      ? undefined
      : createLogoClient(transport, {
          logoUrl: config.logoUrl,
          placeholderHeader: config.logoPlaceholderHeader,
        })
  return {
    url,
    send,
    wireBody: transport.wireBody,
    headers,
    prepare: (operation, request) => prepareRequest(url, operation, request, catalogue),
    resume: (charge) => resumeRequest(charge, catalogue),
    prepareBulk: (operation, request) => resumeBatch(url, operation, { ...request }, { catalogue }),
    prepareQuery: (operation, queryId) => prepareQuery(url, operation, queryId, { catalogue }),
    async askAccount(operation = 'account.usage') {
      if (!apiKey) return undefined
      const usage = prepareRequest(url, operation, {}, catalogue)
      const response = await send({
        method: usage.method,
        url: usage.url,
        body: usage.body,
        timeoutMs: usage.timeoutMs,
        headers: { 'content-type': 'application/json', ...headers },
      })
      if (response.status !== 200) throw answerError(response)
      return usage.decode(response.body).data ?? undefined
    },
    async fetchFree(operation, request) {
      if (operation !== 'company.logo')
        throw new FatalError('no_endpoint', `${operation} is no step of a run`)
      // Without an address for logos there is nothing to ask: the record continues without one.
      if (!logos) return { outcome: 'not_found', data: null }
      return logos.lookup(String(request['domain'] ?? ''))
    },
    close: transport.close,
  }
}
