import type { z } from 'zod'
import type { Fact } from '../../domain/record.ts'
import type { Operation } from '../../domain/words.ts'

/** One endpoint of the service: a file of its own stands behind each (see CONTRIBUTING.md). */
export interface Endpoint<Request extends z.ZodType = z.ZodType> {
  operation: Operation
  method: 'GET' | 'POST'
  /** Below the base address, with the neutral network word. */
  path: string
  request: Request
  timeoutMs: number
  /** Reads the body of a 200. Never throws: what cannot be read was paid for, and is kept as `unreadable`. */
  decode: (body: string) => Fact
}

/** Decodes `{data: object or null}`: null means asked, nothing found. Unknown fields beside and inside `data` are kept. */
export function decodeData(schema: z.ZodType<Record<string, unknown>>): (body: string) => Fact {
  return (body) => {
    let parsed: unknown
    try {
      parsed = JSON.parse(body)
    } catch {
      return { outcome: 'unreadable', data: { raw: body } }
    }
    const data = (parsed as { data?: unknown } | null)?.data
    if (data === null) return { outcome: 'not_found', data: null }
    const checked = schema.safeParse(data)
    return checked.success
      ? { outcome: 'found', data: checked.data }
      : { outcome: 'unreadable', data: { raw: body, problem: checked.error.issues[0]?.message ?? '' } }
  }
}
