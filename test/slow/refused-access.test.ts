import { createServer, request as forward } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { sized } from '../support/full-size.ts'
import { openHouse, type House } from '../support/house.ts'

// An edge in front of the service refuses requests for what they contain, as web application firewalls do.

let sandbox: Sandbox
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())

interface Edge {
  status: number
  /** Only requests with a payment are refused: the challenge has come before. */
  paidOnly: boolean
  refuses: (body: string) => boolean
}

async function openEdge({ status, paidOnly, refuses }: Edge) {
  const target = new URL(sandbox.serviceUrl)
  let refused = 0
  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of incoming) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks)
      const isPaid = 'payment-signature' in incoming.headers || 'x-payment' in incoming.headers
      if ((isPaid || !paidOnly) && refuses(body.toString())) {
        refused += 1
        outgoing.writeHead(status, { 'content-type': 'text/html' }).end('<h1>Blocked</h1>')
        return
      }
      const { method, url: path, headers } = incoming
      const { hostname, port, host } = target
      const onward = forward({ hostname, port, method, path, headers: { ...headers, host } }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
      })
      onward.on('error', (error) => outgoing.destroy(error))
      onward.end(body)
    })().catch((error: unknown) => outgoing.destroy(error as Error))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${target.pathname.replace(/\/$/, '')}`
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url, refused: () => refused, close }
}

async function behind(edge: Edge, test: (house: House, refused: () => number) => Promise<void>) {
  const { url, refused, close } = await openEdge(edge)
  const house = await openHouse(sandbox, { env: { PAYDIRT_SERVICE_URL: url } })
  try {
    await test(house, refused)
  } finally {
    await house.close()
    close()
  }
}

const poison = 'select-from-users'
const fileOf = (name: string, poisonAt: number, count = 12) => {
  const slugs = Array.from({ length: count }, (_, at) => (at === poisonAt ? poison : `${name}-${at}`))
  return {
    csv: ['profnet_url', ...slugs.map((slug) => `https://www.profnet.com/company/${slug}`)].join('\n'),
  } as Parameters<House['enrich']>[0]
}

describe('one record that the edge refuses', () => {
  // The first and the last place of a file, and each status, are of the full size.
  const refusals: [status: number, paidOnly: boolean, at: number][] = [
    [401, true, 3],
    [404, false, 0],
    [403, true, 0],
    [403, true, 11],
  ]
  test.each(refusals.slice(0, sized(4, 2)))(
    'with %i, paid requests only: %s, at place %i: the others are written',
    async (status, paidOnly, at) => {
      const edge = { status, paidOnly, refuses: (body: string) => body.includes(poison) }
      await behind(edge, async (house, refused) => {
        const { end, summary, rows } = await house.enrich(fileOf(`edge-${status}-${at}`, at))
        expect(end).toBe('finished')
        expect(summary.tasks.rejected).toBe(1)
        const { paydirt_status: state, paydirt_reason: reason } = rows[at]!
        expect(state).toBe('rejected')
        expect(reason).toContain(`answers ${status} to this lookup and not to others`)
        expect(rows.filter(({ paydirt_status: each }) => each === 'rejected')).toHaveLength(1)
        // Nothing is sent to find out what the refusal is about.
        expect(refused()).toBe(1)
        // The money of the others moved once each; that of the refused one is left to the chain.
        const charges = await house.context.database.db
          .selectFrom('charges')
          .select(['state', 'reason'])
          .where('state', '<>', 'settled')
          .execute()
        const inDoubt = { state: 'in_doubt', reason: expect.any(String) }
        if (charges.length > 0 || paidOnly) expect(charges).toEqual([inDoubt])
        expect((await house.transfers()).length).toBe((await house.nonces()).length)
      })
    },
    60_000,
  )
})

test('an edge that refuses everything stops the run, and buys nothing', async () => {
  await behind({ status: 403, paidOnly: true, refuses: () => true }, async (house, refused) => {
    await expect(house.enrich(fileOf('edge-all', -1))).rejects.toMatchObject({
      name: 'AccessRefusedError',
      code: 'forbidden',
    })
    expect(refused()).toBeLessThan(21)
    expect(await house.transfers()).toEqual([])
  })
})
