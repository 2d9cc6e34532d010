import { createServer, request as forward, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'

interface Seen {
  path: string
  body: string
  headers: IncomingHttpHeaders
}

/** An answer in place of the service's, or a moment to wait before it is asked. `asked` asks it all the same, and hides its answer. */
interface Verdict {
  status?: number
  body?: string
  headers?: Record<string, string>
  afterMs?: number
  /** Waits for this as well. */
  until?: Promise<unknown>
  isAsked?: boolean
  /** Changes what the service has answered, where it answered 200. */
  rewrite?: (answer: string) => string
}

/** Something in front of the service: a proxy that answers some requests itself, and counts them all by path. */
export async function openEdge(serviceUrl: string, judge: (seen: Seen) => Verdict | undefined) {
  const target = new URL(serviceUrl)
  const requests: string[] = []
  const underWay = new Map<string, number>()
  const most = new Map<string, number>()

  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of incoming) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks)
      const { method, url = '', headers } = incoming
      requests.push(url)
      const now = (underWay.get(url) ?? 0) + 1
      underWay.set(url, now)
      most.set(url, Math.max(now, most.get(url) ?? 0))
      const end = () => underWay.set(url, (underWay.get(url) ?? 1) - 1)
      outgoing.once('close', end)
      const verdict = judge({ path: url, body: body.toString(), headers }) ?? {}
      if (verdict.afterMs) await pause(verdict.afterMs)
      await verdict.until
      const { hostname, port, host } = target
      const answerItself = () =>
        outgoing
          .writeHead(verdict.status ?? 200, { 'content-type': 'text/html', ...verdict.headers })
          .end(verdict.body ?? '<h1>Blocked</h1>')
      if (verdict.status !== undefined && !verdict.isAsked) return answerItself()
      const onward = forward(
        { hostname, port, method, path: url, headers: { ...headers, host } },
        (answer) => {
          if (verdict.status !== undefined && answer.statusCode === 200) {
            answer.resume()
            answer.once('end', () => {
              verdict.headers = { ...(answer.headers as Record<string, string>), ...verdict.headers }
              delete verdict.headers['content-length']
              delete verdict.headers['transfer-encoding']
              answerItself()
            })
            return
          }
          const { rewrite } = verdict
          if (rewrite && answer.statusCode === 200) {
            void text(answer).then((answered) => {
              const { 'content-length': _, 'transfer-encoding': __, ...kept } = answer.headers
              outgoing.writeHead(200, kept).end(rewrite(answered))
            })
            return
          }
          outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
          answer.pipe(outgoing)
        },
      )
      onward.on('error', (error) => outgoing.destroy(error))
      onward.end(body)
      return undefined
    })().catch((error: unknown) => outgoing.destroy(error as Error))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${target.pathname.replace(/\/$/, '')}`,
    /** The number of requests to paths that end in this. */
    count: (end: string) => requests.filter((path) => path.endsWith(end)).length,
    /** The most requests that were under way at once to paths that end in this. */
    mostAtOnce: (end: string) =>
      Math.max(0, ...[...most].filter(([path]) => path.endsWith(end)).map(([, count]) => count)),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
