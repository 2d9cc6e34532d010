import { afterAll, beforeAll, beforeEach } from 'vitest'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { createBuyer } from './x402-buyer.ts'

export const PRICE = 10_000n

/** One sandbox for the tests of a file, without faults at the start of each. */
export function useSandbox() {
  let sandbox: Sandbox
  beforeAll(async () => void (sandbox = await startSandbox()))
  afterAll(() => sandbox.stop())
  beforeEach(() => void sandbox.faults.reset())

  return {
    get sandbox() {
      return sandbox
    },
    get companies() {
      return `${sandbox.serviceUrl}/companies/profnet/lookup`
    },
    get people() {
      return `${sandbox.serviceUrl}/people/profnet/lookup`
    },
    /** A buyer with money of its own, so that what it paid can be read off the chain whatever other tests do. */
    async funded(amountAtomic = 100n * PRICE) {
      const buyer = createBuyer()
      await sandbox.fund(buyer.address, amountAtomic)
      return { ...buyer, transfers: () => sandbox.transfersFrom(buyer.address) }
    },
    /** Returns the answer that the sandbox must give, worked out without it. */
    answerFor: (body: { profnet_url: string }) =>
      companyAnswer(body.profnet_url, { logoUrl: sandbox.logoUrl }),
  }
}

export const company = (name: string) => ({ profnet_url: `https://www.profnet.example/company/${name}` })
export const person = (name: string) => ({ profnet_url: `https://www.profnet.example/in/${name}` })

/** The status of a reply, or `cut` if the connection was. */
export async function attempt(reply: Promise<{ status: number }>): Promise<number | 'cut'> {
  try {
    return (await reply).status
  } catch {
    return 'cut'
  }
}
