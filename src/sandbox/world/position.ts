import type { MoveSignal, SignalType } from './signal.ts'

/** The ladder of an expansion, lowest first (service.md, 3). */
export const stages = ['Exploring', 'Committing', 'Expanding', 'Scaling'] as const
type Direction = 'climbing' | 'holding' | 'retreating' | 'new'
export const momenta = ['advancing', 'steady', 'pulling_back'] as const
export const freshnesses = ['fresh', 'recent', 'aging', 'stale'] as const
export const polarities = ['positive', 'mixed', 'negative'] as const

/** The standing of a move on a day. All of it follows from its signals. */
export interface Position {
  /** 0 to 3. */
  level: number
  direction: Direction
  momentum: (typeof momenta)[number]
  polarity: (typeof polarities)[number]
  freshness: (typeof freshnesses)[number]
  strength: 'weak' | 'moderate' | 'strong'
  types: SignalType[]
  lastDay: number
  /** Higher is more relevant: moves that several independent types of signal bear out come first. */
  relevance: number
}

/** Reads the signals once: a day of the world has some ten thousand moves. */
export function positionOf(signals: readonly MoveSignal[], day: number): Position {
  const types: SignalType[] = []
  let [net, netBefore, negative, lately, isBack] = [0, 0, 0, 0, false]
  for (const { polarity, day: seen, type } of signals) {
    const age = day - seen
    const weight = polarity === 'positive' ? 1 : -2
    net += weight
    if (age > 60) netBefore += weight
    if (polarity === 'negative') {
      negative += 1
      isBack ||= age <= 90
    } else if (age <= 60) lately += 1
    if (!types.includes(type)) types.push(type)
  }
  const level = levelOf(net)
  const lastDay = signals.at(-1)!.day
  const isNew = day - signals[0]!.day <= 45
  return {
    level,
    direction: isBack ? 'retreating' : isNew ? 'new' : level > levelOf(netBefore) ? 'climbing' : 'holding',
    momentum: isBack ? 'pulling_back' : lately >= 2 ? 'advancing' : 'steady',
    polarity: negative === 0 ? 'positive' : negative * 3 >= signals.length ? 'negative' : 'mixed',
    freshness: freshnessOf(day - lastDay),
    strength: types.length > 2 ? 'strong' : types.length > 1 ? 'moderate' : 'weak',
    types,
    lastDay,
    relevance: types.length * 1000 + signals.length,
  }
}

function levelOf(net: number): number {
  return net < 3 ? 0 : net < 6 ? 1 : net < 10 ? 2 : 3
}

function freshnessOf(age: number): Position['freshness'] {
  if (age <= 30) return 'fresh'
  if (age <= 90) return 'recent'
  return age <= 180 ? 'aging' : 'stale'
}
