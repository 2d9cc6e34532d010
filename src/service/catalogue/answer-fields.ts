import type { AnswerField, JsonType } from './entry.ts'
import type { Origin } from './origin.ts'

/** Returns fields of an answer from the same source, each with its type; `null` where the type is not shown. */
export function fieldNames(
  origin: Origin,
  types: Readonly<Record<string, JsonType | null>>,
): Record<string, AnswerField> {
  return Object.fromEntries(
    Object.entries(types).map(([name, is]) => [name, is === null ? { origin } : { origin, is }]),
  )
}
