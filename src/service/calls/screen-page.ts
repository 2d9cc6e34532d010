import { dropped } from '../../domain/lists/dropped-rows.ts'
import { identifiersOfRow, objectOfRows } from '../../domain/lists/list-row.ts'
import { operationRow } from '../../domain/operations.ts'
import type { StoredAnswer } from '../../domain/ports/charge-journal.ts'
import type { Identifier } from '../../domain/subjects/identifiers.ts'
import type { Operation } from '../../domain/words.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import { wholeAnswer } from '../catalogue/entry.ts'
import { valueAt } from './json-path.ts'

export interface ScreenOptions {
  catalogue: Pick<Catalogue, 'of'>
  /** Returns the indexes of the subjects that are on the suppression list. */
  suppressed: (subjects: readonly (readonly Identifier[])[]) => Promise<ReadonlySet<number>>
}

/**
 * Returns a function that drops the suppressed rows of a search's answer, before the ledger has it. Other answers stay as they are.
 *
 * Crash window: the answer has arrived and is not stored yet. The list is read there, so that nothing of a suppressed subject is ever
 * written; where it cannot be read, the answer is not stored either, and the same bytes ask for it again. A subject that is suppressed
 * between the reading and the commit is in the page, and judged when the page is read.
 */
export function createScreen({ catalogue, suppressed }: ScreenOptions) {
  return async function screen(operation: Operation, answer: StoredAnswer): Promise<StoredAnswer> {
    const { data } = answer
    if (operationRow(operation).kind !== 'search' || answer.outcome !== 'found' || data === null)
      return answer
    const at = catalogue.of(operation).answer.at.value
    const rows: unknown = valueAt(data, at)
    if (!Array.isArray(rows)) return answer
    const object = objectOfRows(operation)
    const named = await suppressed(
      rows.map((row: unknown) => (isObject(row) ? identifiersOfRow(object, row) : [])),
    )
    if (named.size === 0) return answer
    const kept = rows.map((row: unknown, index) => (named.has(index) ? dropped('suppressed') : row))
    return { ...answer, data: replacedAt(data, at, kept) as StoredAnswer['data'] }
  }
}

/** Returns a value with another one at a dotted path, as `valueAt` reads it. Changes nothing. */
function replacedAt(value: unknown, path: string, other: unknown): unknown {
  if (path === wholeAnswer) return other
  const [name = '', ...rest] = path.split('.')
  const below = (value as Record<string, unknown>)[name]
  return {
    ...(value as Record<string, unknown>),
    [name]: rest.length === 0 ? other : replacedAt(below, rest.join('.'), other),
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
