// A script as written in an afternoon: the stock x402 client around fetch, a limiter, a CSV in and a CSV out. It has no
// ledger, no journal and no queue: when it is stopped halfway, the next run pays again.
import { readFile, writeFile } from 'node:fs/promises'
import { x402Client, x402HTTPClient } from '@x402/core/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { parse } from 'csv-parse/sync'
import { stringify } from 'csv-stringify/sync'
import { privateKeyToAccount } from 'viem/accounts'
import { readOrder, serveParent } from './child.ts'
import { startMeter } from './meter.ts'

const order = readOrder<{
  serviceUrl: string
  walletKey: `0x${string}`
  input: string
  out: string
  concurrency: number
}>()
const client = new x402HTTPClient(
  new x402Client().register('eip155:8453', new ExactEvmScheme(privateKeyToAccount(order.walletKey))),
)

serveParent({
  async run() {
    const meter = startMeter()
    const rows = parse(await readFile(order.input), { columns: true }) as Record<string, string>[]
    const waiting = rows.entries()
    await Promise.all(
      Array.from({ length: order.concurrency }, async () => {
        for (const [index, row] of waiting)
          rows[index] = { ...row, ...(await lookUp(row['profnet_url'] ?? '')) }
      }),
    )
    await writeFile(order.out, stringify(rows, { header: true }))
    return { ...(await meter.stop()), written: rows.filter((row) => row['industry'] !== undefined).length }
  },
})

async function lookUp(profile: string): Promise<Record<string, string>> {
  const response = await fetchWithPayment(`${order.serviceUrl}/companies/profnet/lookup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'plain-script/1' },
    body: JSON.stringify({ profnet_url: profile }),
  })
  if (!response.ok) throw new Error(`answered ${response.status}`)
  const { data } = (await response.json()) as { data: Record<string, unknown> | null }
  const text = (name: string) => String(data?.[name] ?? '')
  return { domain: text('domain'), industry: text('industry'), city: text('headquarters') }
}

/** Wraps fetch as the client's documentation does: ask, pay what the 402 asks for, ask again. */
async function fetchWithPayment(url: string, init: RequestInit & { headers: Record<string, string> }) {
  const first = await fetch(url, init)
  if (first.status !== 402) return first
  const challenge = client.getPaymentRequiredResponse((name) => first.headers.get(name), await first.json())
  const payload = await client.createPaymentPayload(challenge)
  const proof = client.encodePaymentSignatureHeader(payload)
  return fetch(url, { ...init, headers: { ...init.headers, ...proof } })
}
