import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { API_KEY, API_KEY_HEADER } from '../../src/sandbox/accounts.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk, type Desk } from '../support/cli.ts'
import { isFullSize, sized } from '../support/full-size.ts'

// A network of another name: its word stands in paths and field names.
const networkName = 'guild'
let sandbox: Sandbox
beforeAll(async () => void (sandbox = await startSandbox({ networkName })))
afterAll(() => sandbox.stop())

const byKey = {
  PAYDIRT_API_KEY: API_KEY,
  PAYDIRT_API_KEY_HEADER: API_KEY_HEADER,
  PAYDIRT_WALLET_KEY: undefined,
}
const ways = {
  x402: { env: {}, challengeProtocols: 'x402' as const },
  MPP: { env: {}, challengeProtocols: 'mpp' as const },
  'API key': { env: byKey, challengeProtocols: 'x402' as const },
}

describe.each(Object.entries(ways))(
  'by %s, on a network of another name',
  (way, { env, challengeProtocols }) => {
    let desk: Desk
    beforeEach(async () => {
      sandbox.faults.set({ challengeProtocols })
      desk = await openDesk(sandbox)
    })
    afterEach(async () => {
      sandbox.faults.reset()
      await desk.close()
    })

    // Independent of how it is paid: the short form has it once.
    const isRepeat = !isFullSize && way !== 'x402'
    const call = (operation: string, body: object, ...args: string[]) =>
      desk.run(['service', 'call', operation, '--json', JSON.stringify(body), '--max-usd', '0.05', ...args], {
        PAYDIRT_NETWORK_NAME: networkName,
        ...env,
      })
    /** Charges by state, and what has left the wallet or the account. */
    async function paid(): Promise<{ charges: number; transfers: number }> {
      const spend = await desk.run(['spend', '--json'], { PAYDIRT_NETWORK_NAME: networkName, ...env })
      const { rows } = spend.json<{ rows: { charges: number }[] }>()
      return {
        charges: rows.reduce((sum, row) => sum + row.charges, 0),
        transfers: way === 'API key' ? 0 : (await desk.transfers()).length,
      }
    }

    test.skipIf(isRepeat)('a key with a typing error is refused before the service hears of it', async () => {
      const before = sandbox.stats().requests
      const refused = await call('job.search', { functoins: ['sales'] })
      expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining('near: functions')])
      expect(sandbox.stats().requests).toBe(before)
    })

    test('a search whose filter is dropped stops after one page', async () => {
      sandbox.faults.set({ droppedFilters: [{ only: ['companies_search'], key: 'industries' }] })
      const stopped = await call('company.search', { industries: ['Software'] }, '--pages', '5')
      expect([stopped.status, stopped.stderr]).toEqual([1, expect.stringContaining('ignored industries')])
      expect(await paid()).toEqual({ charges: 1, transfers: way === 'API key' ? 0 : 1 })
    })

    test.skipIf(isRepeat)('a page of a search names people by the network of the settings', async () => {
      const found = await call('people.search', { domains: ['amber-networks.example'] })
      expect([found.status, found.stderr]).toEqual([0, expect.stringContaining('page 1 has')])
      const { data } = found.json<{ data: { peoples: { profnet_url?: string }[] } }>()
      expect(data.peoples[0]?.profnet_url).toMatch(/^https:/)
    })

    test.skipIf(isRepeat)('a renamed total is named by verify, with the setting that mends it', async () => {
      sandbox.faults.set({
        renamedFields: [
          { only: ['companies_search'], place: 'data.pagination.total_entries', to: 'total_rows' },
        ],
      })
      expect((await call('company.search', { industries: ['Software'] })).status).toBe(1)
      const settings = { PAYDIRT_NETWORK_NAME: networkName, ...env }
      const drift = await desk.run(['service', 'verify', '--fix'], settings)
      expect([drift.status, drift.stdout]).toEqual([
        1,
        expect.stringContaining("'company.search': { fields: { total: 'data.pagination.total_rows' } }"),
      ])
    })

    test('a summary that is late time and again is one charge', async () => {
      sandbox.faults.set({ summaryTimeout: { next: sized(3, 1) } })
      const late = await call('expansion.summary', { domain: 'amber-networks.example' })
      expect([late.status, late.stderr]).toEqual([0, expect.stringContaining('answered')])
      expect(await paid()).toEqual({ charges: 1, transfers: way === 'API key' ? 0 : 1 })
    })
  },
)
