import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { PRICE, company } from '../integration/sandbox-fixture.ts'
import { createBuyer } from '../integration/x402-buyer.ts'

describe('the sandbox as a process', () => {
  const start = async () => {
    const child = spawn(process.execPath, ['src/sandbox/main.ts'], { stdio: ['pipe', 'pipe', 'inherit'] })
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    return { child, ready: JSON.parse(String(line)) as { serviceUrl: string; rpcUrl: string } }
  }
  const isUp = (url: string) =>
    fetch(url).then(
      () => true,
      () => false,
    )

  test('goes on with the chain of its last start when told where to keep it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sandbox-chain-'))
    try {
      const buyer = createBuyer()
      const transfers = []
      for (const round of [1, 2]) {
        const sandbox = await startSandbox({ stateFile: join(folder, 'chain.json') })
        try {
          if (round === 1) await sandbox.fund(buyer.address, 2n * PRICE)
          const url = `${sandbox.serviceUrl}/companies/profnet/lookup`
          expect((await buyer.buy(url, company('harbour-lights'))).reply.status).toBe(200)
          transfers.push(await sandbox.transfersFrom(buyer.address))
        } finally {
          await sandbox.stop()
        }
      }
      expect(transfers[1]).toHaveLength(2)
      expect(transfers[1]!.slice(0, 1)).toEqual(transfers[0])
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  test.each(['SIGTERM', 'SIGINT'] as const)('ends cleanly on %s', async (signal) => {
    const { child, ready } = await start()
    child.kill(signal)
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(await isUp(ready.rpcUrl)).toBe(false)
  })

  test('ends when its standard input does', async () => {
    const { child, ready } = await start()
    child.stdin.end()
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(await isUp(ready.rpcUrl)).toBe(false)
  })

  test('leaves no chain behind when it is killed', async () => {
    const { child, ready } = await start()
    expect(await isUp(ready.rpcUrl)).toBe(true)
    child.kill('SIGKILL')
    await once(child, 'exit')
    await expect.poll(() => isUp(ready.rpcUrl), { timeout: 5000 }).toBe(false)
  })
})
