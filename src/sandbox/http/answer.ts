import type { IncomingMessage, ServerResponse } from 'node:http'

/** A response to send; `drop` cuts the connection instead. */
export type Answer = { status: number; headers?: Record<string, string>; body: unknown } | 'drop'

export function send(response: ServerResponse, answer: Answer) {
  if (answer === 'drop') return void response.socket?.destroy()
  const { status, headers = {}, body } = answer
  if (Buffer.isBuffer(body)) return void response.writeHead(status, headers).end(body)
  if (typeof body === 'string')
    return void response.writeHead(status, { 'content-type': 'text/plain', ...headers }).end(body)
  const text = JSON.stringify(body, (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers }).end(text)
}

const MAX_BODY_BYTES = 1 << 20

/** Returns the body as text, or null if it is too large. */
export async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk)
  }
  return bytes > MAX_BODY_BYTES ? null : Buffer.concat(chunks).toString('utf8')
}
