import { Problem } from './problem.ts'

/** Reads a body of at most `limit` bytes. Throws 413 before a larger one is buffered. */
export async function readBody(request: Request, limit: number): Promise<string> {
  const announced = request.headers.get('content-length')
  if (announced !== null && Number(announced) > limit) throw tooLarge(limit)
  if (!request.body) return ''
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > limit) throw tooLarge(limit)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Throws 415 for another content type, and 400 with the position of the error for invalid JSON. */
export function parseJson(text: string, contentType: string | null, anyContentType = false): unknown {
  const type = contentType?.split(';')[0]?.trim().toLowerCase()
  if (!anyContentType && type !== 'application/json' && !type?.endsWith('+json')) {
    throw new Problem(415, 'not_json', 'the body must be application/json')
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    const place = /position (\d+)/.exec((error as Error).message)?.[1]
    throw new Problem(
      400,
      'malformed_json',
      `the body is not valid JSON${place === undefined ? '' : ` (at character ${place})`}`,
    )
  }
}

function tooLarge(limit: number): Problem {
  return new Problem(413, 'too_large', `the limit for the body is ${limit / 1_000} kB`, {
    headers: { connection: 'close' },
  })
}
