export interface BadRequest {
  code: number
  message: string
  details: Record<string, unknown>
}

export const MALFORMED = 40001
export const MISSING_PARAMETER = 41847
/** More than the limit in one request (HTTP 416). */
export const OVER_LIMIT = 41675
/** A page beyond the last that the plan allows (HTTP 416). */
export const OVER_PAGE = 41676
/** Not covered by the remaining credits (HTTP 416). */
export const OVER_QUOTA = 41691

export function malformed(message: string, parameter?: string): BadRequest {
  return { code: MALFORMED, message, details: parameter === undefined ? {} : { parameter } }
}

export function missing(parameter: string): BadRequest {
  return { code: MISSING_PARAMETER, message: `Missing parameter: ${parameter}`, details: { parameter } }
}

export interface ReadBody {
  body: Record<string, unknown>
  ignoredFields: string[]
}

/**
 * Returns a JSON object with the network's word replaced by the neutral one, and the keys that the endpoint does not
 * know: those are dropped and named, not refused.
 */
export function readBody(
  { text, contentType, word }: { text: string | null; contentType: string | undefined; word: string },
  known: readonly string[],
): ReadBody | BadRequest {
  if (!/^application\/json\b/i.test(contentType ?? ''))
    return malformed('The content type must be application/json')
  const body = parseObject(text)
  if (body === null) return malformed('The body must be a JSON object')
  const wire = (name: string) => name.replace('profnet', word)
  return {
    body: Object.fromEntries(known.map((name) => [name, body[wire(name)]])),
    ignoredFields: Object.keys(body).filter((name) => !known.map(wire).includes(name)),
  }
}

export function isRefused(value: object): value is BadRequest {
  return 'code' in value && 'details' in value
}

export function parseObject(text: string | null): Record<string, unknown> | null {
  try {
    return asObject(JSON.parse(text ?? ''))
  } catch {
    return null
  }
}

export function asObject(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null
}

/** Returns a text with content. A blank text counts as absent. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}

export function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}
