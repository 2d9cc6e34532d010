// Sends requests at a steady rate and times each from the moment at which it was due. Imports nothing of Paydirt but the pipe to its parent.
import { Agent, request } from 'node:http'
import { serveParent } from './child.ts'

interface Order {
  url: string
  secret: string
  perSecond: number
  count: number
  run: string
}

const agent = new Agent({ keepAlive: true, maxSockets: 200 })

serveParent({
  async send({ url, secret, perSecond, count, run }: Order) {
    const startMs = performance.now() + 100
    const failures: Record<string, number> = {}
    const sentMs = await Promise.all(
      Array.from({ length: count }, async (_, at) => {
        const dueMs = startMs + (1_000 * at) / perSecond
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs - performance.now())))
        const isHook = url.endsWith('/hooks/monitor')
        const answer = await send(url, secret, isHook ? deliveryOf(run, at) : undefined)
        if (answer !== '200') failures[answer] = (failures[answer] ?? 0) + 1
        return performance.now() - dueMs
      }),
    )
    return { sentMs, failures }
  },
})

function deliveryOf(run: string, at: number): string {
  return JSON.stringify({
    monitor: { monitor_id: 'bench', name: 'bench' },
    triggered_at: new Date().toISOString(),
    signals: [0, 1, 2, 3, 4].map((place) => ({
      signal_id: `${run}-${at}-${place}`,
      type: 'news',
      title: `A signal of company ${place}`,
      domain: `company-${place}.example`,
    })),
  })
}

/** Returns the status of the answer, or the code of the error where there was none. */
function send(url: string, secret: string, body: string | undefined): Promise<string> {
  return new Promise((resolve) => {
    const headers = {
      'x-paydirt-monitor-secret': secret,
      ...(body && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    }
    const sent = request(url, { agent, method: body === undefined ? 'GET' : 'POST', headers }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve(String(answer.statusCode)))
    })
    sent.on('error', (error: NodeJS.ErrnoException) =>
      resolve(`${error.code}${sent.reusedSocket ? ' reused' : ''}`),
    )
    sent.end(body)
  })
}
