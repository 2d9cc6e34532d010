import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { Authorization, Protocol, ResponseHead } from '../../src/domain/payment.ts'
import { createChain } from '../../src/pay/chain/chain.ts'
import { createMpp } from '../../src/pay/mpp/protocol.ts'
import { basePolicy, chooseTerms, type SpendingPolicy } from '../../src/pay/limits/spending-policy.ts'
import { createX402 } from '../../src/pay/x402/protocol.ts'
import { PRICE, type useSandbox } from './sandbox-fixture.ts'

/** Our own protocol objects and policy, with every send by hand. */
export async function openBuyer(
  world: ReturnType<typeof useSandbox>,
  order: Protocol[] = ['mpp'],
  funds = 100n * PRICE,
) {
  const account = privateKeyToAccount(generatePrivateKey())
  if (funds > 0n) await world.sandbox.fund(account.address, funds)
  const { rpcUrl, asset } = world.sandbox
  const chain = createChain({ rpcUrl, asset })
  const policy: SpendingPolicy = { ...basePolicy, maxPriceAtomic: PRICE, recipients: [], order }
  const mpp = createMpp({ account, chain, domain: basePolicy })
  const x402 = createX402({ account, chain })
  const protocols = [mpp, x402]

  async function ask(body: object, headers: Record<string, string> = {}): Promise<ResponseHead> {
    const response = await fetch(world.companies, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'paydirt-tests/1', ...headers },
      body: JSON.stringify(body),
    })
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: await response.text(),
    }
  }

  function termsOf(challenge: ResponseHead, body: object) {
    const asked = { url: world.companies, body: JSON.stringify(body), nowMs: Date.now() }
    const offers = protocols.flatMap((protocol) => protocol.offers(challenge))
    return chooseTerms(offers, policy, () => undefined, asked)
  }

  async function drawn(body: object, seed: string): Promise<Authorization> {
    const terms = termsOf(await ask(body), body)
    const protocol = protocols.find(({ name }) => name === terms.protocol)!
    return protocol.draw(terms, {
      seed: `${account.address} ${seed}`,
      nowMs: Date.now(),
      lifetimeSeconds: 300,
    })
  }

  return {
    mpp,
    x402,
    chain,
    ask,
    termsOf,
    drawn,
    headersOf: (authorization: Authorization) =>
      protocols.find(({ name }) => name === authorization.terms.protocol)!.headers(authorization),
    address: account.address,
    transfers: () => world.sandbox.transfersFrom(account.address),
  }
}
