import type { HTTPAdapter, HTTPRequestContext } from '@x402/core/server'
import { x402HTTPResourceServer, x402ResourceServer } from '@x402/core/server'
import { encodePaymentSignatureHeader } from '@x402/core/http'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import type { Faults, Offer } from '../faults/faults.ts'
import type { Facilitator, SettlementOrder } from './facilitator.ts'
import { NETWORK } from './facilitator.ts'
import { identifierExtension } from './identifier.ts'
import { paymentOptions, wireOffers } from './offers.ts'
import type { Headers, Proof } from './wire.ts'
import { readProof, writeChallenge, writeResult } from './wire.ts'

interface PaywallRequest {
  method: string
  path: string
  url: string
  header(name: string): string | undefined
}

/** A request with the body that was paid for; null if the body was too large. */
export interface PaidRequest extends PaywallRequest {
  body: string | null
}

export interface Refusal {
  status: number
  headers: Headers
  body: unknown
}

/** A payment that was verified, before the lookup. */
export interface Entered {
  /** Moves the money, or returns the response to send instead. */
  settle(answer: Buffer): Promise<{ headers: Headers; refusal: Refusal | null }>
  /** True where the money has moved already. */
  isSettled?: boolean
  /** Called when the lookup failed, so that nothing is settled. */
  cancel(status: number): Promise<void>
}

export interface Paywall {
  proof(request: PaywallRequest, offers: readonly Offer[]): Promise<Proof | null>
  /** Verifies the proof, or answers with the challenge. A request without a proof always gets the challenge. */
  enter(
    request: PaywallRequest,
    proof: Proof | null,
    terms: {
      offers: readonly Offer[]
      challenge: Faults['challenge']
      paymentIdentifier: boolean
      order: SettlementOrder
    },
  ): Promise<Entered | Refusal>
}

/** The official x402 resource server over the given facilitator: verify, then the handler, then settle. */
export async function createPaywall(facilitator: Facilitator, payTo: string): Promise<Paywall> {
  const resources = new x402ResourceServer(facilitator).register(NETWORK, new ExactEvmScheme())
  await resources.initialize()
  const servers = new Map<string, x402HTTPResourceServer>()

  function serverFor(offers: readonly Offer[], paymentIdentifier: boolean) {
    const key = JSON.stringify([offers, paymentIdentifier])
    let server = servers.get(key)
    if (server === undefined) {
      server = new x402HTTPResourceServer(resources, {
        accepts: paymentOptions(offers, payTo),
        description: 'One lookup: 1 credit, 0.010000 USD',
        mimeType: 'application/json',
        ...(paymentIdentifier && { extensions: identifierExtension }),
      })
      servers.set(key, server)
    }
    return server
  }

  return {
    async proof(request, offers) {
      const requirements = await resources.buildPaymentRequirementsFromOptions(
        paymentOptions(offers, payTo),
        null as never,
      )
      return readProof(request.header, requirements)
    },

    async enter(request, proof, { offers, challenge, paymentIdentifier, order }) {
      const server = serverFor(offers, paymentIdentifier)
      const context = officialRequest(request, proof)
      const toWire = (headers: Headers) =>
        writeChallenge(headers, (official) => wireOffers(offers, payTo, official), challenge)

      const outcome = await facilitator.during(order, () => server.processHTTPRequest(context))
      if (outcome.type === 'no-payment-required') throw new Error('a lookup was not behind the paywall')
      if (outcome.type === 'payment-error') {
        const { status, headers } = outcome.response
        const settled = Object.keys(headers).some((name) => name.toLowerCase() === 'payment-response')
        if (settled) return refusalOf(outcome.response, proof)
        return { status, ...toWire(headers) }
      }

      const { paymentPayload, paymentRequirements, declaredExtensions, beforeHandlerSettlement } = outcome
      return {
        async settle(answer) {
          const settled = await facilitator.during(order, () =>
            server.processSettlement(
              paymentPayload,
              paymentRequirements,
              declaredExtensions,
              { request: context, responseBody: answer, responseHeaders: {} },
              undefined,
              beforeHandlerSettlement,
            ),
          )
          const headers = writeResult(settled.headers, proof?.version ?? 2)
          return { headers, refusal: settled.success ? null : refusalOf(settled.response, proof) }
        },
        async cancel(responseStatus) {
          await outcome.cancellationDispatcher.cancel({ reason: 'handler_failed', responseStatus })
        },
      }
    },
  }
}

function refusalOf(
  response: { status: number; headers: Headers; body?: unknown },
  proof: Proof | null,
): Refusal {
  const headers = { ...writeResult(response.headers, proof?.version ?? 2), 'cache-control': 'no-store' }
  return { status: response.status, headers, body: response.body ?? {} }
}

function officialRequest(request: PaywallRequest, proof: Proof | null): HTTPRequestContext {
  const header = proof === null ? undefined : encodePaymentSignatureHeader(proof.payload)
  const adapter: HTTPAdapter = {
    getHeader: (name) => (name.toLowerCase() === 'payment-signature' ? header : request.header(name)),
    getMethod: () => request.method,
    getPath: () => request.path,
    getUrl: () => request.url,
    getAcceptHeader: () => request.header('accept') ?? '',
    getUserAgent: () => request.header('user-agent') ?? '',
  }
  return { adapter, path: request.path, method: request.method, ...(header && { paymentHeader: header }) }
}
