import type { z } from 'zod'
import type { Fact } from '../../domain/record.ts'
import type { Operation } from '../../domain/words.ts'
import { answerDocuments } from '../answer-documents.ts'
import { isCreditBlock } from '../schema/metadata.ts'
import { plainCheck } from '../schema/plain-check.ts'

/** One endpoint of the service. Each has a file of its own (see CONTRIBUTING.md). The catalogue has its method and path. */
export interface Endpoint<Request extends z.ZodType = z.ZodType> {
  operation: Operation
  request: Request
  timeoutMs: number
  /**
   * Returns a name for checked requests of the same price. Terms are remembered for each. Absent: there is one price.
   */
  priceClass?: (request: Record<string, unknown>) => string
  /**
   * Reads the body of a 200. Never throws: an answer that cannot be read was paid for and is stored as `unreadable`.
   */
  decode: (body: string) => Fact
}

/**
 * Decodes `{data: object or null}`. Null means asked, nothing found. Unknown fields beside and inside `data` are kept.
 */
export function decodeData(schema: z.ZodType<Record<string, unknown>>): (body: string) => Fact {
  const isPlain = plainCheck(schema)
  return (body) => {
    let parsed: unknown
    try {
      parsed = JSON.parse(body)
    } catch {
      return { outcome: 'unreadable', data: { raw: body } }
    }
    if (typeof parsed === 'object' && parsed !== null) answerDocuments.keep(body, parsed)
    const data = withoutCredits((parsed as { data?: unknown } | null)?.data)
    if (data === null) return { outcome: 'not_found', data: null }
    if (isPlain(data)) return { outcome: 'found', data: data as Record<string, unknown> }
    const checked = schema.safeParse(data)
    if (checked.success) return { outcome: 'found', data: checked.data }
    return (
      withoutUnreadable(schema, data, checked.error.issues) ?? {
        outcome: 'unreadable',
        data: { raw: body, problem: checked.error.issues[0]?.message ?? '' },
      }
    )
  }
}

/** A record keeps its unreadable fields under this name, as they came. */
const unreadableFields = 'unreadable_fields'

/**
 * A paid answer is not lost because one field has the wrong type (an `[]` instead of a text): that field counts as
 * nothing found and is kept beside the others. Returns undefined when nothing is left of the record.
 */
function withoutUnreadable(
  schema: z.ZodType<Record<string, unknown>>,
  data: unknown,
  issues: readonly { path: PropertyKey[] }[],
): Fact | undefined {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return undefined
  const names = new Set(issues.map(({ path: [name] }) => String(name)))
  const bad = Object.entries(data).filter(([name]) => names.has(name))
  const rest = Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, names.has(name) ? null : value]),
  )
  const checked = schema.safeParse(rest)
  const isAnythingLeft = Object.values(rest).some((value) => value !== null)
  if (!checked.success || !isAnythingLeft) return undefined
  return { outcome: 'found', data: { ...checked.data, [unreadableFields]: Object.fromEntries(bad) } }
}

/** A credit block inside `data` is not part of the record. When `data` holds nothing else, nothing was found. */
function withoutCredits(data: unknown): unknown {
  if (typeof data !== 'object' || data === null || !('profile' in data) || !isCreditBlock(data.profile))
    return data
  const { profile: _, ...rest } = data
  return Object.keys(rest).length === 0 ? null : rest
}
