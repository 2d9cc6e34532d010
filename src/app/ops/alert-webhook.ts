import { createHmac } from 'node:crypto'
import { request } from 'undici'
import type { Delivery } from '../../store/messages/alerts.ts'

const timeoutMs = 10_000

/**
 * Sends one message: an alert, or the report that is given. A repeated message has the same `id`, also from another process. With a secret it is signed:
 * `x-paydirt-signature: v1=<hex HMAC-SHA256 of timestamp.body>` with the Unix seconds in `x-paydirt-timestamp`. Throws when
 * the answer is not a 2xx. The message of the error contains no part of the address.
 */
export async function sendAlert(
  webhook: { url: string; secret: string | undefined },
  { kind, alert }: Delivery,
  now: Date,
  report?: { message: string; report: object },
): Promise<void> {
  const id = `alert-${alert.id}-${kind}`
  const body = JSON.stringify({ id, ...(report ? reportBody(alert, report) : alertBody(kind, alert)) })
  const timestamp = String(Math.floor(now.getTime() / 1000))
  const signature =
    webhook.secret === undefined
      ? {}
      : {
          'x-paydirt-timestamp': timestamp,
          'x-paydirt-signature': `v1=${createHmac('sha256', webhook.secret).update(`${timestamp}.${body}`).digest('hex')}`,
        }
  const response = await request(webhook.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': id, ...signature },
    body,
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((error: unknown) => {
    const { code, name } = error as { code?: string; name?: string }
    throw new Error(`the webhook did not answer (${code ?? name ?? 'unknown'})`)
  })
  await response.body.dump()
  if (response.statusCode < 200 || response.statusCode > 299)
    throw new Error(`the webhook answered ${response.statusCode}`)
}

function alertBody(kind: Delivery['kind'], alert: Delivery['alert']): object {
  const message = kind === 'raised' ? alert.message : (alert.endedMessage ?? 'it has ended')
  return {
    kind,
    condition: alert.condition,
    subject: alert.subject,
    severity: alert.severity,
    message,
    raisedAt: alert.raisedAt,
    endedAt: alert.endedAt,
    // Chat programs show this field of a webhook.
    text: `paydirt: ${kind === 'raised' ? alert.severity : 'ended'}: ${message}`,
  }
}

/** A report is no alert: nothing stands, and nothing will end. */
function reportBody(
  { condition, subject, raisedAt }: Delivery['alert'],
  { message, report }: { message: string; report: object },
): object {
  const text = `paydirt: ${message}`
  return {
    kind: 'report',
    condition,
    subject,
    severity: 'info',
    message,
    raisedAt,
    endedAt: null,
    text,
    report,
  }
}
