import { x402Client, x402HTTPClient } from '@x402/core/client'
import type { PaymentPayload, PaymentRequired } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/client'
import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

export interface Reply {
  status: number
  headers: Headers
  body: unknown
}

/** A customer of the sandbox made of the official x402 client alone, with one step a call so that tests can meddle. */
export function createBuyer(key: Hex = generatePrivateKey()) {
  const account = privateKeyToAccount(key)
  const client = new x402Client()
    .register('eip155:8453', new ExactEvmScheme(account))
    .registerV1('base', new ExactEvmSchemeV1(account))
  const http = new x402HTTPClient(client)

  async function ask(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'paydirt-tests/1', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: parse(text) }
  }

  function challengeOf(reply: Reply): PaymentRequired {
    return http.getPaymentRequiredResponse((name) => reply.headers.get(name), reply.body)
  }

  async function sign(challenge: PaymentRequired, paymentId?: string): Promise<Record<string, string>> {
    const payload: PaymentPayload = await http.createPaymentPayload(challenge)
    const advertised = challenge.extensions?.['payment-identifier'] as { info: object } | undefined
    if (paymentId !== undefined && advertised !== undefined) {
      const info = { ...advertised.info, id: paymentId }
      payload.extensions = { ...payload.extensions, 'payment-identifier': { ...advertised, info } }
    }
    return http.encodePaymentSignatureHeader(payload)
  }

  return {
    address: account.address,
    ask,
    challengeOf,
    sign,
    /** Asks, pays what is asked for, and asks again. `headers` carry the proof that was sent. */
    async buy(
      url: string,
      body: unknown,
      paymentId?: string,
    ): Promise<{ reply: Reply; headers: Record<string, string> }> {
      const headers = await sign(challengeOf(await ask(url, body)), paymentId)
      return { reply: await ask(url, body, headers), headers }
    },
    settlementOf: (reply: Reply) => http.getPaymentSettleResponse((name) => reply.headers.get(name)),
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
