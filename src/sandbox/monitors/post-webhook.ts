import { createHmac } from 'node:crypto'
import { isLoopback } from './read-webhook.ts'

/** The secret that signs every delivery of a sandbox. */
export const WEBHOOK_SECRET = 'sandbox-webhook-secret'
/** Characters of an upstream answer that are kept. */
const MAX_KEPT = 2_000

export interface Webhook {
  url: string
  headers: Readonly<Record<string, string>>
}

/** The outcome of one request to a webhook. */
export interface Outcome {
  isAccepted: boolean
  /** Null where no answer came. */
  status: number | null
  body: string | null
  error: string | null
}

/**
 * Posts a signed body to a webhook. How the service signs is not shown, so the headers bear the sandbox's name:
 * `x-sandbox-signature: v1=` and the hex HMAC-SHA256 of `timestamp.body`. It accepts a 2xx answer and follows no redirect.
 * Nothing is sent to another machine.
 */
export async function postWebhook(
  { url, headers }: Webhook,
  { id, body, at }: { id: string; body: string; at: Date },
  { timeoutMs, stopped }: { timeoutMs: number; stopped: AbortSignal },
): Promise<Outcome> {
  const unanswered = (error: string): Outcome => ({ isAccepted: false, status: null, body: null, error })
  if (!isLoopback(new URL(url).hostname)) return unanswered('the sandbox sends to this machine only')
  const timestamp = String(Math.floor(at.getTime() / 1000))
  try {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        ...headers,
        'content-type': 'application/json',
        'user-agent': 'sandbox-monitor/1',
        'x-sandbox-delivery': id,
        'x-sandbox-timestamp': timestamp,
        'x-sandbox-signature': `v1=${signatureOf(timestamp, body)}`,
      },
      body,
      signal: AbortSignal.any([stopped, AbortSignal.timeout(timeoutMs)]),
    })
    const text = await beginningOf(response)
    return {
      isAccepted: response.ok,
      status: response.status,
      body: text,
      error: response.ok ? null : `the webhook answered ${response.status}`,
    }
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    return unanswered(cause instanceof Error ? cause.message || cause.name : String(cause))
  }
}

function signatureOf(timestamp: string, body: string): string {
  return createHmac('sha256', WEBHOOK_SECRET).update(`${timestamp}.${body}`).digest('hex')
}

/** Returns the beginning of an answer of any length. */
async function beginningOf(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    if (text.length >= MAX_KEPT) break
  }
  return text.slice(0, MAX_KEPT)
}
