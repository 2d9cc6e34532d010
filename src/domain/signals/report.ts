import { scoreBefore, stageMoves, utcDay, type DayScore, type StageMove } from './change.ts'
import { scoreOf, timeOf, type ScoreRules, type SeenSignal } from './score.ts'
import type { SignalType } from './signal.ts'

/** An account of a pipeline with all that a report compares. */
export interface WatchedAccount {
  account: ReportedName
  signals: readonly SeenSignal[]
  /** From the day with which it is compared: the last score on or before that day, and the later ones. */
  history: readonly DayScore[]
  stage: string | null
}

/** A record of a CRM, or the row of a list. */
export interface ReportedName {
  connector: string
  entity: string
  id: string
  name: string | null
}

/** One signal as it stands in a report. */
export interface Evidence {
  type: SignalType
  title: string | null
  link: string | null
  /** When it happened, or else was seen first; `isSeenFirst` says which. */
  at: Date
  isSeenFirst: boolean
  /** First seen within the period of the report. */
  isNew: boolean
  /** The points that are left of it, in hundredths. */
  hundredths: number
}

export interface ReportedAccount extends ReportedName {
  hundredths: number
  /** Null: it had no score before, so it is new to the pipeline. */
  changeHundredths: number | null
  stage: string | null
  moves: StageMove[]
  /** The number of signals that were first seen within the period. */
  newSignals: number
  /** At most three: the new ones first, the strongest of them before the others. */
  evidence: Evidence[]
}

const mostEvidence = 3

/** Returns an account as a report on the days after one shows it, at the time of the report. */
export function reportedAccount(
  { account, signals, history, stage }: WatchedAccount,
  rules: ScoreRules,
  { at, sinceDay }: { at: Date; sinceDay: string },
): ReportedAccount {
  const { hundredths, addends, unscored } = scoreOf(signals, rules, at)
  const before = scoreBefore(history, sinceDay, 0)
  const scored = addends.map(({ signal, hundredths: left }) => evidenceOf(signal, left, sinceDay))
  const others = unscored
    .toSorted((a, b) => timeOf(b).getTime() - timeOf(a).getTime() || (a.key < b.key ? -1 : 1))
    .map((signal) => evidenceOf(signal, 0, sinceDay))
  const all = [...scored, ...others]
  return {
    ...account,
    hundredths,
    changeHundredths: before ? hundredths - before.hundredths : null,
    stage,
    moves: stageMoves(history, sinceDay),
    newSignals: all.filter(({ isNew }) => isNew).length,
    evidence: [...all.filter(({ isNew }) => isNew), ...all.filter(({ isNew }) => !isNew)].slice(
      0,
      mostEvidence,
    ),
  }
}

/** True for an account that moved: something new was seen of it, or its stage changed. Others only grow older. */
export function hasMoved({ newSignals, moves }: Pick<ReportedAccount, 'newSignals' | 'moves'>): boolean {
  return newSignals > 0 || moves.length > 0
}

/** Orders accounts by change, the greatest rise first. Those that had no score before rank by their score. */
export function byChange(a: ReportedAccount, b: ReportedAccount): number {
  const rise = (account: ReportedAccount) => account.changeHundredths ?? account.hundredths
  return rise(b) - rise(a) || b.hundredths - a.hundredths || (nameOf(a) < nameOf(b) ? -1 : 1)
}

/** Returns the name under which commands know an account: `hubspot:companies:123`. */
export function nameOf({ connector, entity, id }: Omit<ReportedName, 'name'>): string {
  return `${connector}:${entity}:${id}`
}

/** The first and the last day of an account among the days of its pipeline. */
interface AccountDays {
  firstDay: string
  lastDay: string
}

/**
 * Tells the accounts of a pipeline that are new since a day and those that are gone: its source had them then, or later, and has them no
 * more. On the first days of a pipeline none is called new, since all are.
 */
export function newAndGone<T extends AccountDays>(
  all: readonly T[],
  sinceDay: string,
): { current: T[]; added: T[]; gone: T[] } {
  const lastDay = all.reduce((last, each) => (each.lastDay > last ? each.lastDay : last), '')
  const current = all.filter((each) => each.lastDay === lastDay)
  const isOlder = all.some(({ firstDay }) => firstDay <= sinceDay)
  return {
    current,
    added: isOlder ? current.filter(({ firstDay }) => firstDay > sinceDay) : [],
    gone: all.filter((each) => each.lastDay < lastDay && each.lastDay >= sinceDay),
  }
}

function evidenceOf(signal: SeenSignal, hundredths: number, sinceDay: string): Evidence {
  const { type, title, link, happenedAt, firstSeenAt } = signal
  return {
    type,
    title,
    link,
    at: timeOf(signal),
    isSeenFirst: happenedAt === null,
    isNew: utcDay(firstSeenAt) > sinceDay,
    hundredths,
  }
}
