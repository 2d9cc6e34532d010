import { afterAll, beforeAll, expect, test } from 'vitest'
import { API_KEY, API_KEY_HEADER } from '../../src/sandbox/accounts.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk } from '../support/cli.ts'
import { sized } from '../support/full-size.ts'

let sandbox: Sandbox
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox?.stop())

const direct = {
  PAYDIRT_API_KEY: API_KEY,
  PAYDIRT_API_KEY_HEADER: API_KEY_HEADER,
  PAYDIRT_WALLET_KEY: undefined,
}

const byMpp = { payment: { protocols: ['mpp' as const] } }

test.each(
  [
    { by: 'API key', env: direct, config: {}, domain: 'amber-bearings.example', transfers: 0 },
    { by: 'x402', env: {}, config: {}, domain: 'amber-analytics.example', transfers: 1 },
    { by: 'MPP', env: {}, config: byMpp, domain: 'amber-analytics.example', transfers: 1 },
  ].slice(0, sized(3, 1)),
)(
  'by $by, a summary that comes after three 408s is one charge',
  async ({ env, config, domain, transfers }) => {
    const desk = await openDesk(sandbox, { config })
    sandbox.faults.set({ challengeProtocols: 'both', summaryTimeout: { next: 3 } })
    try {
      const body = JSON.stringify({ domain })
      const call = await desk.run(
        ['service', 'call', 'expansion.summary', '--json', body, '--max-usd', '0.05'],
        env,
      )
      expect([call.status, call.stderr]).toEqual([0, expect.stringContaining('paid')])
      expect(call.json<{ data: { summary: string } }>().data.summary).not.toBe('')
      expect(sandbox.faults.get().summaryTimeout.next).toBe(0)
      expect(await desk.transfers()).toHaveLength(transfers)
      const spend = await desk.run(['spend', '--json'])
      expect(spend.status).toBe(0)
      const again = await desk.run(
        ['service', 'call', 'expansion.summary', '--json', body, '--max-usd', '0.05'],
        env,
      )
      expect(again.stderr).toContain('nothing is paid')
      expect(await desk.transfers()).toHaveLength(transfers)
    } finally {
      sandbox.faults.reset()
      await desk.close()
    }
  },
  60_000,
)
