import { letters } from '../normalise/near-names.ts'
import type { ObservedSignal, SignalType } from './signal.ts'

/** A signal as it is kept: with the time at which it was first seen. */
export interface SeenSignal extends ObservedSignal {
  firstSeenAt: Date
}

/** The words of a signal that a rule can ask for, with their names in `about`. */
export const matchWords = {
  functions: ['functions', 'function'],
  seniority: ['seniority', 'seniority_rank'],
  categories: ['categories', 'category'],
  providers: ['providers', 'provider'],
  markets: ['markets', 'market', 'to'],
  from: ['from', 'froms'],
  to: ['to', 'tos', 'markets', 'market'],
  polarity: ['polarity'],
  stages: ['stage', 'stages'],
} as const satisfies Record<string, readonly string[]>

export type MatchWord = keyof typeof matchWords

/** The points of one kind of signal. */
export interface ScoreRule {
  type: SignalType
  /** Any of them, as the service writes it. Absent: any strength, also none. */
  strength?: readonly string[] | undefined
  /** Each named word has to be among those of the signal: any of its values. */
  match?: Readonly<Partial<Record<MatchWord, readonly string[] | undefined>>> | undefined
  /** With at most two decimals; less than 0 takes points away. */
  points: number
  halfLifeDays?: number | undefined
}

export interface ScoreRules {
  /** The days after which a signal counts half, where its rule says nothing else. */
  halfLifeDays: number
  /** The first one that fits a signal counts. */
  points: readonly ScoreRule[]
}

/** The rules of a pipeline that has none of its own. */
export const defaultScore: ScoreRules = {
  halfLifeDays: 30,
  points: [
    { type: 'expansion', points: 20 },
    { type: 'cloud', points: 10 },
    { type: 'news', points: 5 },
    { type: 'job', points: 3 },
    { type: 'advertisement', points: 2 },
  ],
}

/** The part that one signal has in a score. */
export interface Addend<T extends SeenSignal = SeenSignal> {
  signal: T
  /** The place of its rule in the rules, from 1. */
  rule: number
  /** The time from which it is halved: when it happened, or else when it was seen first. */
  countedFrom: Date
  /** In hundredths of a point. */
  pointsHundredths: number
  halfLifeDays: number
  /** Whole days of the calendar in UTC. */
  ageDays: number
  /** The part of the points that is left, from 1 down. */
  share: number
  /** In hundredths of a point, rounded. */
  hundredths: number
}

export interface Score<T extends SeenSignal = SeenSignal> {
  /** The sum of the addends, in hundredths of a point. */
  hundredths: number
  /** The strongest first. */
  addends: Addend<T>[]
  /** Signals that no rule fits. */
  unscored: T[]
}

const dayMs = 86_400_000

/**
 * Returns the score at a time, with its addends. A signal counts `points × 0.5 ^ (age / halfLifeDays)`, where its age is the number of
 * calendar days in UTC from the day on which it happened, or else was seen first, to the day of the score: a score is the same at every
 * hour of a day. A signal that lies ahead, as the start of a campaign, has the age 0. Each addend is rounded to a hundredth, halves away from
 * zero, and only then added up, so that the addends that are shown add up to the score that is shown. An ended signal counts as others do.
 * Signals that were seen first after the time of the score are left out.
 */
export function scoreOf<T extends SeenSignal>(signals: readonly T[], rules: ScoreRules, at: Date): Score<T> {
  const addends: Addend<T>[] = []
  const unscored: T[] = []
  for (const signal of signals) {
    if (signal.firstSeenAt > at) continue
    const index = rules.points.findIndex((rule) => fits(rule, signal))
    const rule = rules.points[index]
    if (rule) addends.push(addendOf(signal, rule, index + 1, rules.halfLifeDays, at))
    else unscored.push(signal)
  }
  addends.sort(byStrength)
  return { hundredths: addends.reduce((sum, { hundredths }) => sum + hundredths, 0), addends, unscored }
}

/** Returns the time that a signal bears in a report: it happened then, or was first seen then, which is not the same. */
export function timeOf({ happenedAt, firstSeenAt }: Pick<SeenSignal, 'happenedAt' | 'firstSeenAt'>): Date {
  return happenedAt ?? firstSeenAt
}

/** Returns a number of points as people read it: `12.5`, `-3`, `0.25`. */
export function pointsText(hundredths: number): string {
  return String(hundredths / 100)
}

function addendOf<T extends SeenSignal>(
  signal: T,
  rule: ScoreRule,
  place: number,
  usualDays: number,
  at: Date,
): Addend<T> {
  const countedFrom = timeOf(signal)
  const ageDays = Math.max(0, dayOf(at) - dayOf(countedFrom))
  const halfLifeDays = rule.halfLifeDays ?? usualDays
  const pointsHundredths = Math.round(rule.points * 100)
  const share = 0.5 ** (ageDays / halfLifeDays)
  // Without a sign, because Math.round takes the half of a negative number upwards; and never -0.
  const size = Math.round(Math.abs(pointsHundredths) * share)
  const hundredths = pointsHundredths < 0 && size > 0 ? -size : size
  return { signal, rule: place, countedFrom, pointsHundredths, halfLifeDays, ageDays, share, hundredths }
}

function fits({ type, strength, match = {} }: ScoreRule, signal: SeenSignal): boolean {
  if (type !== signal.type) return false
  if (strength && !(signal.strength !== null && isAmong([signal.strength], strength))) return false
  return Object.entries(match).every(
    ([word, wanted]) => wanted === undefined || isAmong(valuesOf(signal, word as MatchWord), wanted),
  )
}

function valuesOf({ about }: SeenSignal, word: MatchWord): string[] {
  return matchWords[word].flatMap((name) => about[name] ?? [])
}

/** As the service compares them: letter case, spaces and punctuation do not count. */
function isAmong(values: readonly string[], wanted: readonly string[]): boolean {
  const known = new Set(wanted.map(letters))
  return values.some((value) => known.has(letters(value)))
}

/** The order does not depend on the one in which signals come. */
function byStrength(a: Addend, b: Addend): number {
  return (
    Math.abs(b.hundredths) - Math.abs(a.hundredths) ||
    b.countedFrom.getTime() - a.countedFrom.getTime() ||
    compare(a.signal.type, b.signal.type) ||
    compare(a.signal.key, b.signal.key)
  )
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function dayOf(at: Date): number {
  return Math.floor(at.getTime() / dayMs)
}
