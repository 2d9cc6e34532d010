import { exactly } from '../data/match-words.ts'
import { countriesOf } from '../world/markets.ts'
import type { Move } from '../world/moves.ts'
import { freshnesses, momenta, polarities, stages } from '../world/position.ts'
import { signalStrengths, signalTypes } from '../world/signal.ts'
import type { WorldDay } from '../world/world.ts'
import { companyFilters, rowsOf } from './narrow.ts'

/** The filters of expansions that the description names, and the companies to which they are narrowed. */
export const expansionFilters = {
  ...companyFilters,
  froms: 'texts',
  tos: 'texts',
  stages: 'texts',
  signal_types: 'texts',
  signal_strengths: 'texts',
  freshness: 'words',
  momentum: 'words',
  polarity: 'words',
} as const

export type ExpansionFilters = { [N in keyof typeof expansionFilters]?: readonly string[] }

/** The filters that a search gives up when nothing fits, the first one first. Never the companies and the corridor. */
export const loosened = [
  'freshness',
  'signal_strengths',
  'momentum',
  'polarity',
  'signal_types',
  'stages',
] as const

/** Returns the expansions that fit all filters, the newest first. */
export function findMoves(today: WorldDay, filters: ExpansionFilters): Move[] {
  const tests = moveTests(filters)
  return rowsOf(today.moves, filters).filter((move) => tests.every((test) => test(move)))
}

/**
 * Returns a test for each filter. A word that nobody knows is dropped: of stages, freshness and polarity that leaves no
 * filter, of the others one that nothing fits.
 */
function moveTests(filters: ExpansionFilters): ((move: Move) => boolean)[] {
  const tests: ((move: Move) => boolean)[] = []
  const { froms, tos } = filters
  if (froms) {
    const countries = countriesOf(froms)
    tests.push((move) => countries.has(move.from))
  }
  if (tos) {
    const countries = countriesOf(tos)
    tests.push((move) => countries.has(move.to))
  }
  const lenient = <T extends string>(list: readonly T[], asked: readonly string[] | undefined) => {
    const known = exactly(list, asked ?? [])
    return known.size === 0 ? undefined : known
  }
  const strict = <T extends string>(list: readonly T[], asked: readonly string[] | undefined) =>
    asked && exactly(list, asked)

  const wantedStages = lenient(stages, filters.stages)
  if (wantedStages) tests.push(({ level }) => wantedStages.has(stages[level]!))
  const freshness = lenient(freshnesses, filters.freshness)
  if (freshness) tests.push((move) => freshness.has(move.freshness))
  const polarity = lenient(polarities, filters.polarity)
  if (polarity) tests.push((move) => polarity.has(move.polarity))
  const types = strict(signalTypes, filters.signal_types)
  if (types) tests.push((move) => move.types.some((type) => types.has(type)))
  const strengths = strict(signalStrengths, filters.signal_strengths)
  if (strengths) tests.push(({ strength }) => strengths.has(strength))
  const momentum = strict(momenta, filters.momentum)
  if (momentum) tests.push((move) => momentum.has(move.momentum))
  return tests
}
