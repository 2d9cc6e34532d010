// A process that sends as fast as its pacers allow. There is no payment: only pacing and HTTP.
import { openRedis } from '../src/queues/connection.ts'
import { decodeGrant } from '../src/queues/pacer/grant.ts'
import { createPacer, type Pacer } from '../src/queues/pacer/pacer.ts'
import { createTransport } from '../src/service/transport.ts'
import { readOrder, serveParent } from './child.ts'

const { url, redisUrl, prefix } = readOrder<{ url: string; redisUrl: string; prefix: string }>()
const { redis, close } = await openRedis(redisUrl)
const transport = createTransport({ userAgent: 'paydirt-bench/1', networkName: 'profnet', connections: 200 })
const stops = new Map<string, () => Promise<void>>()

/** When the pacer meant each request to go, and when it let it go; milliseconds since 1970. */
export interface SendTimes {
  plannedMs: number[]
  handedOutMs: number[]
}
const times = new Map<string, SendTimes>()

interface Begin {
  id: string
  senders: number
  to?: string
  /** Without the pacer, each sender sends when it has its answer: a client that knows how many may be under way. */
  isPaced?: boolean
}

serveParent(
  {
    begin: ({ id, senders, to = url, isPaced = true }: Begin) => {
      const pacer = createPacer(redis, { name: id, prefix })
      times.set(id, { plannedMs: [], handedOutMs: [] })
      let isStopped = false
      const sending = Array.from({ length: senders }, async () => {
        while (!isStopped) await (isPaced ? sendOne(id, pacer, to) : post(id, to))
      })
      stops.set(id, async () => {
        isStopped = true
        await pacer.close()
        await Promise.all(sending)
      })
    },
    end: (id: string) => stops.get(id)?.(),
    times: (id: string) => times.get(id),
    cpuMs: () => process.cpuUsage().user / 1e3 + process.cpuUsage().system / 1e3,
  },
  async () => {
    await transport.close()
    await close()
  },
)

async function sendOne(id: string, pacer: Pacer, to: string): Promise<void> {
  const token = await pacer.take({ lane: 'background', maxWaitMs: 2_000 })
  if (!token.granted) {
    // In the pipeline, the job would go back to the queue for that long.
    await new Promise((resolve) => setTimeout(resolve, Math.min(token.retryInMs, 5_000)))
    return
  }
  await pacer.depart(token.grantId)
  times.get(id)?.plannedMs.push(decodeGrant(token.grantId).atMs)
  times.get(id)?.handedOutMs.push(performance.timeOrigin + performance.now())
  const { status } = await post(id, to)
  await pacer.report({ grantId: token.grantId, kind: status === 429 ? 'limited' : 'ok' })
}

function post(id: string, to: string) {
  return transport.send({ method: 'POST', url: `${to}/${id}`, body: '{}', headers: {}, timeoutMs: 30_000 })
}
