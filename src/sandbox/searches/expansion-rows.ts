import { dateOf, momentOf } from '../world/clock.ts'
import { chance } from '../world/chance.ts'
import { markets, marketOf } from '../world/markets.ts'
import type { Move } from '../world/moves.ts'
import { stages } from '../world/position.ts'
import type { MoveSignal } from '../world/signal.ts'
import type { ExpansionFilters } from './expansion-filters.ts'

/** Returns an expansion as every answer shows it. */
export function expansionRow(move: Move) {
  const { company, signals } = move
  return {
    expansion_id: move.id,
    domain_search_id: company.id,
    domain: company.domain,
    company_name: company.name,
    from: move.from,
    to: move.to,
    stage: { name: stages[move.level]!, level: move.level + 1, direction: move.direction },
    momentum: move.momentum,
    polarity: move.polarity,
    freshness: move.freshness,
    signal_strength: move.strength,
    signal_types: move.types,
    signal_count: signals.length,
    first_signal_at: dateOf(signals[0]!.day),
    latest_signal_at: dateOf(move.lastDay),
  }
}

const evidence = {
  hiring: { prefix: 'jb', key: 'job_search_id' },
  news: { prefix: 'nw', key: 'news_search_id' },
  advertising: { prefix: 'ad', key: 'advertisement_search_id' },
  cloud: { prefix: 'cl', key: 'cloud_search_id' },
  events: { prefix: 'ev', key: 'event_id' },
} as const

/** Returns a signal with the row that is its evidence. `occurs_at` and `occurs_until` are not shown. */
export function signalRow(move: Move, signal: MoveSignal) {
  const { company } = move
  const { prefix, key } = evidence[signal.type]
  return {
    signal_id: signal.id,
    expansion_id: move.id,
    domain_search_id: company.id,
    domain: company.domain,
    company_name: company.name,
    signal_type: signal.type,
    signal_strength: signal.strength,
    polarity: signal.polarity,
    from: move.from,
    to: move.to,
    title: titleOf(move, signal),
    detected_at: momentOf(signal.day, chance(company.index, 221, move.seed, signal.step)),
    evidence: { [key]: `${prefix}-${company.index}-m${move.seed}-${signal.step}` },
  }
}

/** Returns why a row fits, by up to three of its signals. */
export function explained(move: Move, filters: ExpansionFilters) {
  const wanted = filters.signal_types?.map((type) => type.toLowerCase())
  const fitting = move.signals.filter(({ type }) => wanted === undefined || wanted.includes(type))
  return fitting
    .slice(-3)
    .reverse()
    .map((signal) => ({ signal_id: signal.id, text: `${titleOf(move, signal)} (${dateOf(signal.day)})` }))
}

function titleOf({ company, to }: Move, { type, polarity }: MoveSignal): string {
  const place = markets[marketOf(to)]!.name
  const did = {
    hiring: `opened a job in ${place}`,
    news: polarity === 'positive' ? `is in the news for ${place}` : `is said to leave ${place}`,
    advertising: `advertises in ${place}`,
    cloud: `runs servers in ${place}`,
    events: polarity === 'positive' ? `spoke at an event in ${place}` : `cancelled an event in ${place}`,
  }[type]
  return `${company.name} ${did}`
}
