import type { Atomic } from './money.ts'
import { operationRow } from './operations.ts'
import type { Fact } from './record.ts'
import type { Operation } from './words.ts'

/** The days for which an answer counts as fresh. */
interface Window {
  foundDays: number
  notFoundDays: number
}

/** The windows of all operations, and those of single operations. */
export interface Windows extends Window {
  operations?: Partial<
    Record<Operation, { foundDays?: number | undefined; notFoundDays?: number | undefined }>
  >
}

export const defaultWindows: Windows = { foundDays: 90, notFoundDays: 30 }

const dayMs = 86_400_000

/** Returns until when an answer is not bought again. An unreadable answer was paid for, so it counts like a found one. */
export function freshUntil(
  operation: Operation,
  outcome: Fact['outcome'],
  answeredAt: Date,
  windows: Windows = defaultWindows,
): Date {
  const { freshness } = operationRow(operation)
  const own = freshness === 'usual' ? {} : freshness
  const window = { ...windows, ...own, ...defined(windows.operations?.[operation]) }
  const days = outcome === 'not_found' ? window.notFoundDays : window.foundDays
  return new Date(answeredAt.getTime() + days * dayMs)
}

export interface Refreshable {
  answeredAt: Date
  freshUntil: Date
  /** The most that asking again costs. */
  priceAtomic: Atomic
}

/** Returns the stale answers, oldest first, as many as the budget pays for. Never skips an older one for a cheaper one. */
export function dueForRefresh<T extends Refreshable>(
  answers: readonly T[],
  now: Date,
  budgetAtomic: Atomic,
): T[] {
  const stale = answers
    .filter((answer) => answer.freshUntil <= now)
    .toSorted((a, b) => a.answeredAt.getTime() - b.answeredAt.getTime())
  const due: T[] = []
  let left = budgetAtomic
  for (const answer of stale) {
    left -= answer.priceAtomic
    if (left < 0n) break
    due.push(answer)
  }
  return due
}

function defined(window: { [K in keyof Window]?: number | undefined } = {}): Partial<Window> {
  return Object.fromEntries(Object.entries(window).filter(([, days]) => days !== undefined))
}
