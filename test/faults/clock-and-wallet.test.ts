import { encodeAbiParameters, keccak256, pad } from 'viem'
import { describe, expect, test } from 'vitest'
import { rpc } from './accounts.ts'
import { withCase } from './fault-case.ts'
import { expectEnd, expectSound } from './invariants.ts'
import { reportFault } from './report.ts'

const anHour = 3_600_000
const lookups = 12
const file = { pacing: { startPerSecond: 200, concurrency: 1 } }

describe('a clock an hour ahead', () => {
  test.concurrent('still buys everything', async () => {
    await withCase({ lookups, file }, async (fault) => {
      expectEnd(await fault.start({ clockAheadMs: anHour }).ended, 'finished')
      const accounts = await fault.accounts()
      reportFault('clock an hour ahead', 0, accounts)
      expectSound(accounts, { rows: fault.rows })
      expect(accounts.transfers).toHaveLength(lookups)
    })
  })

  test.concurrent('after a crash does not count a valid authorization as dead', async () => {
    await withCase({ lookups, file, authorizationSeconds: 25 }, async (fault) => {
      const killed = await fault.start({ kill: { point: 'before-send', nth: 4 } }).ended
      expect(killed.signal).toBe('SIGKILL')
      const sentMs = Date.now()
      // By this clock the authorization expired an hour ago. Only the chain's own time may close it.
      expectEnd(await fault.finish([], { clockAheadMs: anHour }), 'finished')
      expect(Date.now() - sentMs).toBeGreaterThan(20_000)
      const accounts = await fault.accounts()
      reportFault('killed before-send, back with a clock an hour ahead', 1, accounts)
      expectSound(accounts, { rows: fault.rows })
      expect(accounts.charges.filter(({ state }) => state === 'expired')).toHaveLength(1)
      expect(accounts.transfers).toHaveLength(lookups)
    })
  })

  test.concurrent('corrected after a crash: the same bytes are sent again', async () => {
    await withCase({ lookups, file }, async (fault) => {
      const killed = await fault.start({ kill: { point: 'before-send', nth: 4 }, clockAheadMs: anHour }).ended
      expect(killed.signal).toBe('SIGKILL')
      expectEnd(await fault.finish(), 'finished')
      const accounts = await fault.accounts()
      reportFault('killed with a clock an hour ahead, back with a correct one', 1, accounts)
      expectSound(accounts, { rows: fault.rows })
      expect(accounts.charges).toHaveLength(lookups)
      expect(accounts.transfers).toHaveLength(lookups)
    })
  })
})

test.concurrent(
  'a wallet that is emptied during a run parks the rest, and the run continues when it is funded',
  async () => {
    const slow = { latency: { minMs: 100, maxMs: 200 } }
    await withCase({ lookups: 40, file, faults: slow }, async (fault) => {
      const worker = fault.start()
      await fault.until(() => fault.sandbox.stats().settled >= 10)
      // Empties the wallet in the token's storage: a transfer would be counted among ours.
      const slot = keccak256(
        encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [fault.wallet, 1n]),
      )
      await rpc(fault.sandbox.rpcUrl, 'anvil_setStorageAt', [
        fault.sandbox.asset,
        slot,
        pad('0x0', { size: 32 }),
      ])
      expect(await fault.sandbox.balanceOf(fault.wallet)).toBe(0n)
      expectEnd(await worker.ended, 'parked')
      const dry = await fault.accounts()
      expectSound(dry, { rows: fault.rows })
      expect(dry.transfers.length).toBeLessThan(40)
      // The payment that the server refused, and no signatures beyond the balance other than those already in flight.
      expect(dry.charges.length - dry.transfers.length).toBeLessThanOrEqual(1)
      const parked = dry.tasks.filter(({ status }) => status === 'parked')
      expect(parked.map(({ reason }) => reason?.includes('wallet'))).not.toContain(false)

      await fault.sandbox.fund(fault.wallet, 1_000_000n)
      expectEnd(await fault.finish(), 'finished')
      const accounts = await fault.accounts()
      reportFault('wallet emptied during a run, then funded', 0, accounts)
      expectSound(accounts, { rows: fault.rows })
      expect(accounts.transfers).toHaveLength(40)
      expect(accounts.charges).toHaveLength(40)
    })
  },
)
