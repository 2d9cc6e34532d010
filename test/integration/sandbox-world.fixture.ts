import { API_KEY, API_KEY_HEADER } from '../../src/sandbox/accounts.ts'
import { useSandbox } from './sandbox-fixture.ts'
import { createBuyer } from './x402-buyer.ts'

export interface Page {
  data: { pagination: Record<string, number> } & Record<string, Record<string, unknown>[]>
  metadata: Record<string, unknown> & { profile: { total_credit_cost: number } }
}

/** Opens one sandbox for the tests of the calling file, asked by API key without our own client. */
export function useWorld() {
  const world = useSandbox()
  const buyer = createBuyer()

  async function ask(path: string, body: unknown) {
    return buyer.ask(`${world.sandbox.serviceUrl}${path}`, body, { [API_KEY_HEADER]: API_KEY })
  }

  return {
    world,
    ask,
    /** Returns a good answer, and throws for any other. */
    async page(path: string, body: unknown = {}): Promise<Page> {
      const { status, body: answer } = await ask(path, body)
      if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(answer)}`)
      return answer as Page
    },
    async total(path: string, body: unknown = {}): Promise<number> {
      return (await this.page(path, body)).data.pagination['total_entries']!
    },
  }
}
