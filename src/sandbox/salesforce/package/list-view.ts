import { createHmac, randomBytes } from 'node:crypto'
import type { SalesforceType } from '../schema.ts'

/** The size of one request of the page behind "Enrich selected"; its Apex checks the user's access first. */
const mostSelected = 200

interface Answer {
  status: number
  body: unknown
}

/**
 * Presses "Enrich selected" in a list view, as the package in an org does: batch by batch, each a signed request, and no
 * further one after a refusal. Signs by HMAC, which the server accepts in place of the org's JWT.
 */
export async function pressEnrichSelected(options: {
  url: string
  secret: string
  object: SalesforceType
  recordIds: readonly string[]
}): Promise<Answer[]> {
  const { object, recordIds } = options
  const answers: Answer[] = []
  for (let at = 0; at < recordIds.length; at += mostSelected) {
    const selected = recordIds.slice(at, at + mostSelected)
    const answer = await send(options, { action: 'enrich_selected', object, recordIds: selected })
    answers.push(answer)
    if (answer.status !== 200) break
  }
  return answers
}

async function send(
  { url, secret }: { url: string; secret: string },
  content: Record<string, unknown>,
): Promise<Answer> {
  const body = JSON.stringify(content)
  const [time, nonce] = [String(Math.floor(Date.now() / 1000)), randomBytes(12).toString('hex')]
  const path = '/hooks/salesforce'
  const signature = createHmac('sha256', secret).update(`${time}.${nonce}.POST.${path}.${body}`).digest('hex')
  const response = await fetch(url + path, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-paydirt-timestamp': time,
      'x-paydirt-nonce': nonce,
      'x-paydirt-signature': `v1=${signature}`,
    },
  })
  return { status: response.status, body: await response.json() }
}
