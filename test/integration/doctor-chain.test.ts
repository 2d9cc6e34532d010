import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk } from '../support/cli.ts'

let sandbox: Sandbox
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())

interface Request {
  id: number
  method: string
  params: unknown[]
}

/** A node in front of the sandbox's, which refuses what `refuses` names. */
async function nodeThatRefuses(refuses: (request: Request) => string | undefined): Promise<string> {
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    const asked = JSON.parse(body) as Request
    const message = refuses(asked)
    response.setHeader('content-type', 'application/json')
    if (message !== undefined) {
      response.end(JSON.stringify({ jsonrpc: '2.0', id: asked.id, error: { code: -32_602, message } }))
      return
    }
    const passedOn = await fetch(sandbox.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    response.end(await passedOn.text())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function chainFindings(rpcUrl: string) {
  const desk = await openDesk(sandbox)
  onTestFinished(() => desk.close())
  const { findings } = (await desk.run(['doctor', '--json'], { PAYDIRT_RPC_URL: rpcUrl })).json<{
    findings: { name: string; status: string; message: string; todo?: string }[]
  }>()
  return findings.filter(({ name }) => name === 'chain')
}

test('the doctor asks the chain as a payment in doubt is asked', async () => {
  expect(await chainFindings(sandbox.rpcUrl)).toMatchObject([{ status: 'ok' }])
})

test('the doctor names a node that cannot answer for a block by its hash, or knows no final block', async () => {
  const byHash = await nodeThatRefuses(({ method, params }) =>
    method === 'eth_call' && typeof params[1] === 'object' ? 'invalid argument 1' : undefined,
  )
  const final = await nodeThatRefuses(({ method, params }) =>
    method === 'eth_getBlockByNumber' && params[0] === 'finalized' ? 'unknown block tag' : undefined,
  )
  for (const rpcUrl of [byHash, final])
    expect(await chainFindings(rpcUrl)).toMatchObject([
      { status: 'problem', todo: expect.stringContaining('EIP-1898') },
    ])
})
