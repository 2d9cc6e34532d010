import { signalTypes, type SignalType } from './signal.ts'

/** The days after which a type is asked for again, where a pipeline says nothing else. */
export const defaultDays: Readonly<Record<SignalType, number>> = {
  job: 7,
  news: 3,
  advertisement: 14,
  cloud: 30,
  expansion: 7,
}

/** A first question reaches back so many days. Of clouds, advertisements and expansions the state of now is asked for. */
export const reachDays: Readonly<Partial<Record<SignalType, number>>> = { job: 150, news: 90 }

/** The types of which a question can ask for what is new alone. The others are asked for whole each time. */
export const grownTypes: ReadonlySet<SignalType> = new Set(['job', 'news', 'expansion'])

/** After so many days such a type is asked for as the first time, because an increment does not show what has ended. */
export const wholeDays = 28

const dayMs = 86_400_000

/** The last check of a type that was answered. */
export interface LastCheck {
  type: SignalType
  checkedAt: Date
  /** The last one that asked for everything in reach. */
  wholeAt: Date
  /** False: the service did not know the company, so that nothing was asked. */
  isMatched: boolean
}

/** A check that is due. */
export interface DueCheck {
  type: SignalType
  /** `2026-11-16`: the day from which on it asks. Undefined: for all of now. */
  from: string | undefined
  /** True where it asks for everything in reach, so that what it does not show has ended. */
  isWhole: boolean
  /** Null: it was never made. */
  lastAt: Date | null
}

/**
 * Returns the checks of one account that are due, those made longest ago first. An increment asks from the day before the last check on:
 * the service may show a thing a day late. Pure.
 */
export function dueChecks(
  types: readonly SignalType[],
  last: readonly LastCheck[],
  { days, now }: { days: Readonly<Partial<Record<SignalType, number | undefined>>>; now: Date },
): DueCheck[] {
  const due = signalTypes
    .filter((type) => types.includes(type))
    .flatMap((type): DueCheck[] => {
      const known = last.find((each) => each.type === type)
      const reach = reachDays[type]
      const whole = { type, from: reach === undefined ? undefined : dayBefore(now, reach), isWhole: true }
      if (!known) return [{ ...whole, lastAt: null }]
      const each = (days[type] ?? defaultDays[type]) * dayMs
      if (now.getTime() - known.checkedAt.getTime() < each) return []
      const { checkedAt: lastAt, wholeAt, isMatched } = known
      if (!isMatched || !grownTypes.has(type) || now.getTime() - wholeAt.getTime() >= wholeDays * dayMs)
        return [{ ...whole, lastAt }]
      return [{ type, from: dayBefore(lastAt, 1), isWhole: false, lastAt }]
    })
  return due.sort((one, other) => (one.lastAt?.getTime() ?? 0) - (other.lastAt?.getTime() ?? 0))
}

function dayBefore(at: Date, days: number): string {
  return new Date(at.getTime() - days * dayMs).toISOString().slice(0, 10)
}
