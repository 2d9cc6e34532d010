import { defaultDays, grownTypes, reachDays, wholeDays } from './due.ts'
import type { SignalType } from './signal.ts'

/** The figures of a type that are known before it is asked for. */
export interface TypeFigures {
  type: SignalType
  days: number | undefined
  /** The accounts that go into one search. */
  together: number
  /** The signals that an account had in reach, by the checks that were made. Undefined: none was made yet. */
  rowsPerAccount: number | undefined
}

export interface PlannedRequests {
  /** Those that identify accounts, and those for each type. */
  first: Requests
  /** Those of seven days after the first time, and of thirty. */
  week: Requests
  month: Requests
}

/** The least is exact: one page a question. `likely` counts pages by what accounts had before; the least where nobody knows. */
interface Requests {
  least: number
  likely: number
}

/** A market entry has shown its last signal within so many days, on average. */
const expansionDays = 60

/** Returns the requests of a pipeline. Pure. */
export function plannedRequests(
  accounts: { all: number; unidentified: number },
  types: readonly TypeFigures[],
  pageSize: number,
): PlannedRequests {
  const identified = Math.ceil(accounts.unidentified / pageSize)
  const first = { least: identified, likely: identified }
  const inDays = (period: number): Requests => {
    const sum = { least: 0, likely: 0 }
    for (const figures of types) {
      const every = figures.days ?? defaultDays[figures.type]
      const checks = period / every
      const whole = grownTypes.has(figures.type) ? Math.min(checks, period / wholeDays) : checks
      add(sum, questions(accounts.all, figures, pageSize, 1), whole)
      add(
        sum,
        questions(accounts.all, figures, pageSize, every / (reachDays[figures.type] ?? expansionDays)),
        checks - whole,
      )
    }
    return { least: Math.ceil(sum.least), likely: Math.ceil(sum.likely) }
  }
  for (const figures of types) add(first, questions(accounts.all, figures, pageSize, 1), 1)
  return { first, week: inDays(7), month: inDays(30) }
}

function questions(
  accounts: number,
  { together, rowsPerAccount = 0 }: TypeFigures,
  pageSize: number,
  share: number,
): Requests {
  const least = Math.ceil(accounts / together)
  const inOne = Math.min(together, accounts) * rowsPerAccount * share
  return { least, likely: least * Math.max(1, Math.ceil(inOne / pageSize)) }
}

function add(sum: Requests, { least, likely }: Requests, times: number): void {
  sum.least += least * times
  sum.likely += likely * times
}
