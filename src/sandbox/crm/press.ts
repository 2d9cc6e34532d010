/** The answer of Paydirt to a button of a CRM, as far as a person is told. */
interface Answer {
  status?: string | null
  reason?: string | null
  fields?: { field?: string }[]
  costUsd?: string
  detail?: string
  title?: string
}

/** Sends a signed request of a CRM's button to Paydirt. Returns its answer as a sentence. */
export async function press(url: string, headers: Record<string, string>, body: string): Promise<string> {
  let response: Response
  try {
    response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      signal: AbortSignal.timeout(15_000),
    })
  } catch {
    return `Paydirt does not answer at ${new URL(url).origin}: start it with these settings in its .env, then press again.`
  }
  const answer = (await response.json().catch(() => ({}))) as Answer
  if (!response.ok)
    return `Paydirt refused (${response.status}): ${answer.detail ?? answer.title ?? 'no reason given'}`
  const fields = answer.fields?.length ?? 0
  const reason = answer.reason ? ` (${answer.reason})` : ''
  return `Paydirt says ${answer.status ?? 'nothing yet'}${reason}: ${fields} field${fields === 1 ? '' : 's'}, ${answer.costUsd ?? '0'} USD.`
}
