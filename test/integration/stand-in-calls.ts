export interface Reply {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- shapes are what these tests are about
  readonly body: any
  readonly headers: Headers
}

export async function send(
  base: string,
  token: string,
  method: string,
  path: string,
  body?: unknown,
  more = {},
): Promise<Reply> {
  const response = await fetch(base + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...more },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json')
  return { status: response.status, body: isJson ? JSON.parse(text) : text, headers: response.headers }
}
