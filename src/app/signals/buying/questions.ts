import type { DueCheck } from '../../../domain/signals/due.ts'
import type { SignalType } from '../../../domain/signals/signal.ts'
import type { SignalAccount } from '../../../store/signals/accounts.ts'

/** The most accounts in one search. The description names no limit; this is that of rankings. */
export const mostTogether = 100

/** One search for one type of one or more accounts. */
export interface Question {
  type: SignalType
  isWhole: boolean
  from: string | undefined
  accounts: readonly SignalAccount[]
}

export interface DueAccount {
  account: SignalAccount
  due: readonly DueCheck[]
}

/**
 * Groups due checks into questions: those of one type that ask from the same day on go together. Questions whose checks were made longest
 * ago come first. Pure.
 */
export function questionsOf(
  accounts: readonly DueAccount[],
  together: (type: SignalType) => number,
): Question[] {
  const checks = accounts.flatMap(({ account, due }) => due.map((check) => ({ account, check })))
  const groups = Map.groupBy(checks, ({ check: { type, from, isWhole } }) =>
    JSON.stringify([type, from, isWhole]),
  )
  return [...groups.values()]
    .map((group) => ({
      group,
      oldest: Math.min(...group.map(({ check }) => check.lastAt?.getTime() ?? 0)),
    }))
    .sort((one, other) => one.oldest - other.oldest)
    .flatMap(({ group }) => {
      const { type, from, isWhole } = group[0]!.check
      const size = together(type)
      return Array.from({ length: Math.ceil(group.length / size) }, (_, at): Question => ({
        type,
        from,
        isWhole,
        accounts: group.slice(at * size, (at + 1) * size).map(({ account }) => account),
      }))
    })
}

/** Returns the body of a question. `today` is the day of the answers. */
export function bodyOf({ type, isWhole, from, accounts }: Question, today: string): Record<string, unknown> {
  // Two records of a CRM may be one company.
  const ids = [...new Set(accounts.flatMap(({ serviceId }) => serviceId ?? []))].sort()
  return {
    domain_search_ids: ids,
    ...(type === 'job' && from !== undefined && { created_at: { from } }),
    ...(type === 'news' && from !== undefined && { published_at: { from } }),
    ...(type === 'advertisement' && { active_dates: { from: today, to: today } }),
    // The newest may come while pages are bought: the oldest first, they stand behind those that were read.
    ...((type === 'job' || type === 'news') && { is_ascending_order: true }),
    // These cannot be asked for from a day on: the newest first, they are read until that day.
    ...(type === 'expansion' && !isWhole && { sort_by: 'recent' }),
  }
}

/** Returns the two halves of a question that has more rows than the service answers. Undefined: it is about one account. */
export function halvesOf(question: Question): [Question, Question] | undefined {
  const { accounts } = question
  if (accounts.length < 2) return undefined
  const middle = Math.ceil(accounts.length / 2)
  return [
    { ...question, accounts: accounts.slice(0, middle) },
    { ...question, accounts: accounts.slice(middle) },
  ]
}
